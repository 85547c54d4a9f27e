import Testing

@testable import WaybridgeClient

/// When a client connects, waits and gives up.
struct ReconnectStateTests {
  /// What happens, one after the other; time passes in seconds.
  enum Event: Sendable {
    case connected, opened, openedForOnce, due, close
    case lost(UInt16?)
    case unreachable, refused
    case pass(Double)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var reconnection: BridgeClient.Reconnection = .automatic()
    let events: [Event]
    /// What each loss leads to: seconds to wait, nil for the end.
    let next: [Double?]
    let state: ReconnectState.State

    init(
      _ description: String, by reconnection: BridgeClient.Reconnection = .automatic(),
      _ events: [Event], _ next: [Double?], _ state: ReconnectState.State
    ) {
      testDescription = description
      self.reconnection = reconnection
      self.events = events
      self.next = next
      self.state = state
    }
  }

  private static let rows: [Row] = [
    Row("the first connection is tried once", [.unreachable], [nil], .ended),
    Row("a hello that fails is the end", [.connected, .lost(4100)], [nil], .ended),
    Row(
      "a lost connection is made again at once", [.connected, .opened, .lost(nil)], [0], .waiting),
    Row(
      "then it waits longer each time",
      [
        .connected, .opened, .lost(nil), .due, .unreachable, .due, .unreachable, .due, .connected,
        .lost(nil),
      ],
      [0, 1, 2, 4], .waiting),
    Row(
      "a session that lives for long counts as no trouble",
      [
        .connected, .opened, .lost(4200), .due, .connected, .opened, .pass(5), .lost(4200),
      ], [0, 0], .waiting),
    Row(
      "one that ends at once does",
      [
        .connected, .opened, .lost(4200), .due, .connected, .opened, .pass(4.9), .lost(4200),
      ], [0, 1], .waiting),
    Row("after 41xx it waits", [.connected, .opened, .lost(4103)], [0.5], .waiting),
    Row("after a code of nobody's too", [.connected, .opened, .lost(3001)], [0.5], .waiting),
    Row("who never waits does not", by: .never, [.connected, .opened, .lost(nil)], [nil], .ended),
    Row(
      "a server that cannot resume is not asked to",
      [.connected, .openedForOnce, .lost(nil)], [nil], .ended),
    Row(
      "so many attempts are made", by: .automatic(attempts: 2),
      [.connected, .opened, .lost(nil), .due, .unreachable, .due, .unreachable], [0, 1, nil],
      .ended),
    Row(
      "no attempt is one choice", by: .automatic(attempts: 0), [.connected, .opened, .lost(nil)],
      [nil], .ended),
    Row(
      "attempts count from the last session on", by: .automatic(attempts: 1),
      [.connected, .opened, .lost(nil), .due, .connected, .opened, .lost(nil)], [0, 1], .waiting),
    Row(
      "it gives up when its time would pass", by: .automatic(within: .seconds(3)),
      [
        .connected, .opened, .lost(nil), .due, .pass(1), .unreachable, .due, .pass(1), .unreachable,
      ],
      [0, 1, nil], .ended),
    Row(
      "who is refused stays away", [.connected, .opened, .lost(nil), .due, .refused], [0, nil],
      .ended),
    Row(
      "who has closed does not come back", [.connected, .opened, .close, .lost(1000)], [nil], .ended
    ),
    Row(
      "who has closed does not come back, whatever the code",
      [.connected, .opened, .close, .lost(4200)], [nil], .ended),
    Row("who waits closes at once", [.connected, .opened, .lost(nil), .close], [0], .ended),
    Row(
      "nothing comes after the end", [.unreachable, .lost(nil), .due, .connected], [nil], .ended),
  ]

  @Test(arguments: rows)
  func whatFollowsWhat(_ row: Row) {
    var life = ReconnectState(row.reconnection)
    var now: UInt64 = 1_000_000_000_000
    var next: [Double?] = []
    func lose(_ loss: ReconnectState.Loss) {
      switch life.lost(loss, at: now, jitter: 1) {
      case .nothing: break
      case .end: next.append(nil)
      case .wait(let delay): next.append(delay / .seconds(1))
      }
    }
    life.begin()
    for event in row.events {
      switch event {
      case .connected: _ = life.connected()
      case .opened: life.opened(isResumable: true, at: now)
      case .openedForOnce: life.opened(isResumable: false, at: now)
      case .due: _ = life.due()
      case .close: _ = life.close()
      case .lost(let code): lose(.closed(code))
      case .unreachable: lose(.unreachable)
      case .refused: lose(.refused)
      case .pass(let seconds): now += UInt64(seconds * 1_000_000_000)
      }
    }
    #expect(next == row.next)
    #expect(life.state == row.state)
  }

  @Test(
    arguments: [1000, 1002, 1003, 1007, 1009, 4000, 4001, 4009, 4029, 4099] as [UInt16])
  func afterTheseCodesThereIsNothing(code: UInt16) {
    #expect(sequel(of: code) == .end)
  }

  @Test(arguments: [nil, 1006, 4200, 4201, 4202, 4203, 4204, 4299] as [UInt16?])
  func afterTheseItConnectsAtOnce(code: UInt16?) {
    #expect(sequel(of: code) == .wait(.zero))
  }

  @Test(arguments: [1001, 1005, 1011, 3000, 4100, 4101, 4102, 4103, 4300] as [UInt16])
  func afterTheseItWaits(code: UInt16) {
    #expect(sequel(of: code) == .wait(.milliseconds(250)))
  }

  private func sequel(of code: UInt16?) -> ReconnectState.Next {
    var life = ReconnectState(.automatic())
    life.begin()
    _ = life.connected()
    life.opened(isResumable: true, at: 0)
    return life.lost(.closed(code), at: 0, jitter: 0)
  }

  @Test func whatNobodyWantsIsNotTaken() {
    var life = ReconnectState(.automatic())
    #expect(!life.connected() && !life.due())
    life.begin()
    let wasOver = life.close()
    #expect(wasOver && !life.connected() && life.state == .ended)
  }
}

struct BackoffTests {
  @Test(
    arguments: [
      (0, 0, 0.25), (0, 1, 0.5), (1, 1, 1), (2, 0.5, 1.5), (5, 1, 16), (6, 1, 30), (6, 0, 15),
      (1000, 1, 30), (-1, 1, 0.5), (0, 7, 0.5),
    ] as [(Int, Double, Double)])
  func itDoublesUpToItsMost(failures: Int, jitter: Double, seconds: Double) {
    #expect(Backoff().delay(after: failures, jitter: jitter) == .seconds(seconds))
  }
}

struct LivenessTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func aServerThatIsSilentIsAskedAndThenGivenUp() {
    var life = Liveness(Silence(quiet: 20_000, patience: 15_000), at: 0)
    #expect(life.look(at: 0) == .wait(20 * Self.second))
    life.hear(at: 5 * Self.second)
    #expect(life.look(at: 20 * Self.second) == .wait(5 * Self.second))
    #expect(life.look(at: 25 * Self.second) == .ask(15 * Self.second))
    #expect(life.look(at: 30 * Self.second) == .wait(10 * Self.second))
    #expect(life.look(at: 40 * Self.second) == .lost)
  }

  @Test func whatComesInTimeEndsTheQuestion() {
    var life = Liveness(Silence(), at: 0)
    #expect(life.look(at: 20 * Self.second) == .ask(15 * Self.second))
    life.hear(at: 34 * Self.second)
    #expect(life.look(at: 35 * Self.second) == .wait(19 * Self.second))
    #expect(life.look(at: 54 * Self.second) == .ask(15 * Self.second))
  }

  @Test func whoHasSleptAsksBeforeItGivesUp() {
    var life = Liveness(Silence(), at: 0)
    #expect(life.look(at: 3600 * Self.second) == .ask(15 * Self.second))
    #expect(life.look(at: 3615 * Self.second) == .lost)
  }

  @Test func whoHasReasonToDoubtAsksAtOnceAndWaitsForLess() {
    var life = Liveness(Silence(), at: 0)
    life.doubt(at: 3 * Self.second)
    #expect(life.look(at: 3 * Self.second) == .ask(5 * Self.second))
    #expect(life.look(at: 7 * Self.second) == .wait(Self.second))
    var other = life
    #expect(life.look(at: 8 * Self.second) == .lost)
    other.hear(at: 7 * Self.second)
    #expect(other.look(at: 27 * Self.second) == .ask(15 * Self.second))
    var impatient = Liveness(Silence(quiet: 20_000, patience: 2_000), at: 0)
    impatient.doubt(at: 0)
    #expect(impatient.look(at: 0) == .ask(2 * Self.second))
  }

  @Test(arguments: [(Int64.min, Int64.max), (0, -1)] as [(Int64, Int64)])
  func aServerCannotAskForTimesWithoutSense(quiet: Int64, patience: Int64) {
    let silence = Silence(quiet: quiet, patience: patience)
    let hour = 3600 * Self.second
    #expect(silence.quiet == Self.second)
    #expect(silence.patience == (patience > 0 ? hour : Self.second))
  }
}

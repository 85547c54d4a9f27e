import Testing

@testable import WaybridgeClient

/// When a client connects, waits and gives up.
struct ReconnectStateTests {
  /// An event; time passes in seconds.
  enum ReconnectStep: Sendable {
    case connected, opened, openedWithoutResume, due, close
    case lost(UInt16?)
    case unreachable, rejected
    case advance(Double)
  }

  struct ReconnectCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var reconnection: BridgeClient.Reconnection = .automatic()
    let steps: [ReconnectStep]
    /// The result of each loss: the seconds to wait, or `nil` for the end.
    let expectedDelays: [Double?]
    let expectedState: ReconnectState.ReconnectPhase

    init(
      _ description: String, by reconnection: BridgeClient.Reconnection = .automatic(),
      _ events: [ReconnectStep], _ next: [Double?], _ state: ReconnectState.ReconnectPhase
    ) {
      testDescription = description
      self.reconnection = reconnection
      self.steps = events
      self.expectedDelays = next
      self.expectedState = state
    }
  }

  private static let reconnectCases: [ReconnectCase] = [
    ReconnectCase("the first connection is tried once", [.unreachable], [nil], .ended),
    ReconnectCase("a hello that fails is the end", [.connected, .lost(4100)], [nil], .ended),
    ReconnectCase(
      "after a lost connection it waits at most half a second",
      [.connected, .opened, .lost(nil)], [0.5], .waiting),
    ReconnectCase(
      "it reconnects at once if the server requests it", [.connected, .opened, .lost(4200)], [0],
      .waiting),
    ReconnectCase(
      "then it waits longer each time",
      [
        .connected, .opened, .lost(nil), .due, .unreachable, .due, .unreachable, .due, .connected,
        .lost(nil),
      ],
      [0.5, 1, 2, 4], .waiting),
    ReconnectCase(
      "a session that lives for long counts as no trouble",
      [
        .connected, .opened, .lost(4200), .due, .connected, .opened, .advance(5), .lost(4200),
      ], [0, 0], .waiting),
    ReconnectCase(
      "one that ends at once does",
      [
        .connected, .opened, .lost(4200), .due, .connected, .opened, .advance(4.9), .lost(4200),
      ], [0, 1], .waiting),
    ReconnectCase("after 41xx it waits", [.connected, .opened, .lost(4103)], [0.5], .waiting),
    ReconnectCase(
      "also after an unassigned code", [.connected, .opened, .lost(3001)], [0.5], .waiting),
    ReconnectCase(
      "a client without reconnection does not", by: .never, [.connected, .opened, .lost(nil)],
      [nil], .ended),
    ReconnectCase(
      "no resume with a server that cannot resume",
      [.connected, .openedWithoutResume, .lost(nil)], [nil], .ended),
    ReconnectCase(
      "so many attempts are made", by: .automatic(attempts: 2),
      [.connected, .opened, .lost(nil), .due, .unreachable, .due, .unreachable], [0.5, 1, nil],
      .ended),
    ReconnectCase(
      "no attempt is one choice", by: .automatic(attempts: 0), [.connected, .opened, .lost(nil)],
      [nil], .ended),
    ReconnectCase(
      "attempts count from the last session on", by: .automatic(attempts: 1),
      [.connected, .opened, .lost(nil), .due, .connected, .opened, .lost(nil)], [0.5, 1],
      .waiting),
    ReconnectCase(
      "it gives up when its time would pass", by: .automatic(within: .seconds(3)),
      [
        .connected, .opened, .lost(nil), .due, .advance(1), .unreachable, .due, .advance(1),
        .unreachable,
      ],
      [0.5, 1, nil], .ended),
    ReconnectCase(
      "a rejected client does not reconnect", [.connected, .opened, .lost(nil), .due, .rejected],
      [0.5, nil],
      .ended),
    ReconnectCase(
      "a closed client does not reconnect", [.connected, .opened, .close, .lost(1000)], [nil],
      .ended
    ),
    ReconnectCase(
      "a closed client does not reconnect, whatever the code",
      [.connected, .opened, .close, .lost(4200)], [nil], .ended),
    ReconnectCase(
      "a waiting client closes at once", [.connected, .opened, .lost(nil), .close], [0.5],
      .ended),
    ReconnectCase(
      "no event has an effect after the end", [.unreachable, .lost(nil), .due, .connected], [nil],
      .ended),
  ]

  @Test(arguments: reconnectCases)
  func stepsLeadToTheExpectedDelaysAndState(_ row: ReconnectCase) {
    var life = ReconnectState(row.reconnection.limit)
    var now: UInt64 = 1_000_000_000_000
    var next: [Double?] = []
    func lose(_ loss: ReconnectState.ConnectionLoss) {
      switch life.connectionLost(loss, at: now, jitter: 1) {
      case .nothing: break
      case .end: next.append(nil)
      case .wait(let delay): next.append(delay / .seconds(1))
      }
    }
    life.begin()
    for event in row.steps {
      switch event {
      case .connected: _ = life.socketOpened()
      case .opened: life.sessionOpened(isResumable: true, at: now)
      case .openedWithoutResume: life.sessionOpened(isResumable: false, at: now)
      case .due: _ = life.beginRetry()
      case .close: _ = life.close()
      case .lost(let code): lose(.closed(code))
      case .unreachable: lose(.unreachable)
      case .rejected: lose(.rejected)
      case .advance(let seconds): now += UInt64(seconds * 1_000_000_000)
      }
    }
    #expect(next == row.expectedDelays)
    #expect(life.phase == row.expectedState)
  }

  @Test(
    arguments: [1000, 1002, 1003, 1007, 1009, 4000, 4001, 4009, 4029, 4099] as [UInt16])
  func doesNotReconnectAfterFinalCodes(code: UInt16) {
    #expect(reconnectAction(after: code) == .end)
  }

  @Test(arguments: [4200, 4201, 4202, 4203, 4204, 4299] as [UInt16])
  func reconnectsAtOnceAfterRetryableCodes(code: UInt16) {
    #expect(reconnectAction(after: code) == .wait(.zero))
  }

  @Test(
    arguments: [nil, 1001, 1005, 1006, 1011, 3000, 4100, 4101, 4102, 4103, 4300] as [UInt16?])
  func waitsBeforeReconnectingAfterOtherCodes(code: UInt16?) {
    #expect(reconnectAction(after: code) == .wait(.milliseconds(250)))
  }

  private func reconnectAction(after code: UInt16?) -> ReconnectState.ReconnectDecision {
    var life = ReconnectState(BridgeClient.Reconnection.automatic().limit)
    life.begin()
    _ = life.socketOpened()
    life.sessionOpened(isResumable: true, at: 0)
    return life.connectionLost(.closed(code), at: 0, jitter: 0)
  }

  @Test(
    arguments: [
      (0, 0, 250), (0, 1, 500), (100, 0, 350), (100, 1, 600), (7000, 0, 7250), (7000, 1, 7500),
    ] as [(Int, Double, Int)])
  func waitsAtLeastAsLongAsTheServerRequests(requested: Int, jitter: Double, expected: Int) {
    var life = ReconnectState(BridgeClient.Reconnection.automatic().limit)
    life.begin()
    _ = life.socketOpened()
    life.sessionOpened(isResumable: true, at: 0)
    let decision = life.connectionLost(
      .unreachable, at: 0, jitter: jitter, retryAfter: .milliseconds(requested))
    #expect(decision == .wait(.milliseconds(expected)))
  }

  @Test func endsIfTheServerRequestsALongerTimeThanAllowed() {
    var life = ReconnectState(BridgeClient.Reconnection.automatic(within: .seconds(5)).limit)
    life.begin()
    _ = life.socketOpened()
    life.sessionOpened(isResumable: true, at: 0)
    let decision = life.connectionLost(.unreachable, at: 0, jitter: 0, retryAfter: .seconds(6))
    #expect(decision == .end)
    #expect(life.phase == .ended)
  }

  @Test(
    arguments: [
      (["retryAfterMs": 1500], 1500), (["retryAfterMs": -1], 0), (["retryAfterMs": "1"], 0),
      ([:], 0), (.null, 0), (["retryAfterMs": .integer(.max)], 3_600_000),
    ] as [(Value, Int)])
  func readsTheTimeThatAnErrorRequests(data: Value, milliseconds: Int) {
    let error = CallError(code: 2503, message: "later", data: data)
    #expect(error.retryAfter == .milliseconds(milliseconds))
  }

  @Test func ignoresUnexpectedEvents() {
    var life = ReconnectState(BridgeClient.Reconnection.automatic().limit)
    #expect(!life.socketOpened() && !life.beginRetry())
    life.begin()
    let wasOver = life.close()
    #expect(wasOver && !life.socketOpened() && life.phase == .ended)
  }
}

struct BackoffTests {
  @Test(
    arguments: [
      (0, 0, 0.25), (0, 1, 0.5), (1, 1, 1), (2, 0.5, 1.5), (5, 1, 16), (6, 1, 30), (6, 0, 15),
      (1000, 1, 30), (-1, 1, 0.5), (0, 7, 0.5),
    ] as [(Int, Double, Double)])
  func delayDoublesUpToTheMaximum(failures: Int, jitter: Double, seconds: Double) {
    #expect(ReconnectBackoff().delay(after: failures, jitter: jitter) == .seconds(seconds))
  }
}

struct ConnectionLivenessTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func pingsASilentServerThenReportsItLost() {
    var life = ClientConnectionLiveness(PingTiming(interval: 20_000, timeout: 15_000), at: 0)
    #expect(life.check(at: 0) == .wait(20 * Self.second))
    life.recordMessage(at: 5 * Self.second)
    #expect(life.check(at: 20 * Self.second) == .wait(5 * Self.second))
    #expect(life.check(at: 25 * Self.second) == .ping(15 * Self.second))
    #expect(life.check(at: 30 * Self.second) == .wait(10 * Self.second))
    #expect(life.check(at: 40 * Self.second) == .lost)
  }

  @Test func activityAfterAPingResetsTheTimeout() {
    var life = ClientConnectionLiveness(PingTiming(), at: 0)
    #expect(life.check(at: 20 * Self.second) == .ping(15 * Self.second))
    life.recordMessage(at: 34 * Self.second)
    #expect(life.check(at: 35 * Self.second) == .wait(19 * Self.second))
    #expect(life.check(at: 54 * Self.second) == .ping(15 * Self.second))
  }

  @Test func pingsAfterSleepBeforeReportingLoss() {
    var life = ClientConnectionLiveness(PingTiming(), at: 0)
    #expect(life.check(at: 3600 * Self.second) == .ping(15 * Self.second))
    #expect(life.check(at: 3615 * Self.second) == .lost)
  }

  @Test func suspicionPingsAtOnceWithAShorterTimeout() {
    var life = ClientConnectionLiveness(PingTiming(), at: 0)
    life.probe(at: 3 * Self.second)
    #expect(life.check(at: 3 * Self.second) == .ping(5 * Self.second))
    #expect(life.check(at: 7 * Self.second) == .wait(Self.second))
    var other = life
    #expect(life.check(at: 8 * Self.second) == .lost)
    other.recordMessage(at: 7 * Self.second)
    #expect(other.check(at: 27 * Self.second) == .ping(15 * Self.second))
    var impatient = ClientConnectionLiveness(PingTiming(interval: 20_000, timeout: 2_000), at: 0)
    impatient.probe(at: 0)
    #expect(impatient.check(at: 0) == .ping(2 * Self.second))
  }

  @Test(arguments: [(Int64.min, Int64.max), (0, -1)] as [(Int64, Int64)])
  func clampsTimeoutsRequestedByTheServer(quiet: Int64, timeout: Int64) {
    let silence = PingTiming(interval: quiet, timeout: timeout)
    let hour = 3600 * Self.second
    #expect(silence.interval == Self.second)
    #expect(silence.timeout == (timeout > 0 ? hour : Self.second))
  }
}

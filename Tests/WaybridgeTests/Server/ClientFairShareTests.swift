import Synchronization
import TestSupport
import Testing
import WaySockets
import WayTransport
import WayValues
import Waybridge

/// A client that keeps the server busy lets the others have their turn.
@Suite(.timeLimit(.minutes(1)))
struct ClientFairShareTests {
  private let runs = RunCounter()
  private let started = Mailbox<Void>()
  private static let count = 100

  /// `action://work` keeps the loop for some milliseconds, `action://count` tells how often it ran.
  private func serve() async throws -> BridgeServerFixture {
    let router = Router()
    try router.task("action://work") { [runs, started] _ in
      if runs.add() == 1 { started.put(()) }
      let clock = ContinuousClock()
      let end = clock.now + .milliseconds(4)
      while clock.now < end {}
      return nil
    }
    try router.task("action://count") { [runs] _ in .integer(Int64(runs.count)) }
    var limits = Limits()
    limits.maxRate = 0
    return try await BridgeServerFixture(router, BridgeConfiguration(port: 0, limits: limits))
  }

  private var work: [Value] {
    (1...Self.count).map { id in
      [
        "jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "router.invoke",
        "params": ["uri": "action://work"],
      ]
    }
  }

  /// Whether another client is answered while the work of the first goes on.
  private func othersAreServed(_ send: (Peer, [Value]) async throws -> Void) async throws {
    let served = try await serve()
    let busy = try await Peer.connect(to: served, subprotocol: nil)
    let other = try await Peer.connect(to: served, subprotocol: nil)
    _ = try await other.ask("router.invoke", ["uri": "action://count"])
    try await send(busy, work)
    try await started.take()
    let count = try await other.ask("router.invoke", ["uri": "action://count"])
    #expect(try #require(count.integer) < Self.count)
    var answers: [Value] = []
    while answers.count < Self.count {
      let message = try await busy.value()
      answers += message.list ?? [message]
    }
    #expect(answers.map { $0["id"] } == (1...Self.count).map { .integer(Int64($0)) })
    await served.stop()
  }

  @Test func aBatchIsTakenInSeveralTurns() async throws {
    try await othersAreServed { busy, work in try await busy.send(.list(work)) }
  }

  @Test func messagesThatComeAtOnceAreTakenInSeveralTurns() async throws {
    try await othersAreServed { busy, work in
      for message in work { try await busy.send(message) }
    }
  }

  /// What is in flight is answered, then the connection closes with 4200.
  @Test func theServersEndAnswersCallsFirst() async throws {
    let router = Router()
    let waiting = Mailbox<Void>()
    try router.task("action://wait") { _ async throws in
      waiting.put(())
      try await Task.sleep(for: .seconds(600))
      return nil
    }
    let served = try await BridgeServerFixture(router, BridgeConfiguration(port: 0))
    let client = try await Peer.connect(to: served, subprotocol: nil)
    try await client.send([
      "jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": ["uri": "action://wait"],
    ])
    try await waiting.take()
    async let stopped: Void = served.stop()
    #expect(try await client.value()["error"]?["code"] == -32802)
    guard case .closed(let code) = try await client.next() else {
      return #expect(Bool(false), "a message came instead of the end")
    }
    #expect(code == 4200)
    await stopped
  }
}

/// Counts on any thread.
private final class RunCounter: Sendable {
  private let made = Atomic(0)
  func add() -> Int { made.add(1, ordering: .relaxed).newValue }
  var count: Int { made.load(ordering: .relaxed) }
}

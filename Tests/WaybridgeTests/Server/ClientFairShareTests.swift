import Synchronization
import TestSupport
import Testing
import WaySockets
import WayTransport
import WayValues
import Waybridge

/// A client that keeps the server busy does not block the others.
@Suite(.timeLimit(.minutes(1)))
struct ClientFairShareTests {
  private let runs = RunCounter()
  private let started = Mailbox<Void>()
  private static let requestCount = 100

  /// Starts a server: `action://work` blocks the loop for some milliseconds, `action://count`
  /// returns how often it ran.
  private func startServer() async throws -> BridgeServerFixture {
    let router = Router()
    try router.task("action://work") { [runs, started] _ in
      if runs.increment() == 1 { started.put(()) }
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

  private var workRequests: [Value] {
    (1...Self.requestCount).map { id in
      [
        "jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "router.invoke",
        "params": ["uri": "action://work"],
      ]
    }
  }

  /// Checks that another client gets responses while the first one's work continues.
  private func expectOthersServed(_ send: (RawClient, [Value]) async throws -> Void) async throws {
    let served = try await startServer()
    let busy = try await RawClient.connect(to: served, subprotocol: nil)
    let other = try await RawClient.connect(to: served, subprotocol: nil)
    _ = try await other.request("router.invoke", ["uri": "action://count"])
    try await send(busy, workRequests)
    try await started.receive()
    let count = try await other.request("router.invoke", ["uri": "action://count"])
    #expect(try #require(count.integer) < Self.requestCount)
    var responses: [Value] = []
    while responses.count < Self.requestCount {
      let message = try await busy.nextMessage()
      responses += message.array ?? [message]
    }
    #expect(responses.map { $0["id"] } == (1...Self.requestCount).map { .integer(Int64($0)) })
    await served.stop()
  }

  @Test func batchDoesNotBlockOtherClients() async throws {
    try await expectOthersServed { busy, work in try await busy.send(.array(work)) }
  }

  @Test func messageBurstDoesNotBlockOtherClients() async throws {
    try await expectOthersServed { busy, work in
      for message in work { try await busy.send(message) }
    }
  }

  /// Calls in flight get a response, then the connection closes with 4200.
  @Test func stoppingRespondsToPendingCallsFirst() async throws {
    let router = Router()
    let waiting = Mailbox<Void>()
    try router.task("action://wait") { _ async throws in
      waiting.put(())
      try await Task.sleep(for: .seconds(600))
      return nil
    }
    let served = try await BridgeServerFixture(router, BridgeConfiguration(port: 0))
    let client = try await RawClient.connect(to: served, subprotocol: nil)
    try await client.send([
      "jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": ["uri": "action://wait"],
    ])
    try await waiting.receive()
    async let stopped: Void = served.stop()
    #expect(try await client.nextMessage()["error"]?["code"] == -32802)
    guard case .closed(let code) = try await client.next() else {
      return #expect(Bool(false), "a message arrived instead of the close")
    }
    #expect(code == 4200)
    await stopped
  }
}

/// A thread-safe counter.
private final class RunCounter: Sendable {
  private let value = Atomic(0)
  func increment() -> Int { value.add(1, ordering: .relaxed).newValue }
  var count: Int { value.load(ordering: .relaxed) }
}

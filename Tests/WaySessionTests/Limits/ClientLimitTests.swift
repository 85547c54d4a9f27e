import Synchronization
import TestSupport
import Testing
import WayRPC
import WayRouting
import WaySession
import WayTransport
import WayValues

/// Limits of the load that one client can cause.
@Suite(.timeLimit(.minutes(1)))
struct ClientLimitTests {
  private let router = Router()

  /// Opens a host of `action:`, and another client of its session.
  private func openHostAndCaller(
    _ limits: Limits
  ) async throws -> (bridge: InMemoryBridge, host: WireClient, caller: WireClient) {
    let bridge = InMemoryBridge(router, limits: limits)
    let (host, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task"]]])
    let (caller, _) = try await WireClient.open(bridge, joining: opened)
    return (bridge, host, caller)
  }

  @Test func cancelledCallCountsUntilHostResponds() async throws {
    var limits = Limits()
    limits.maxInFlight = 2
    let (_, host, caller) = try await openHostAndCaller(limits)
    var requests: [Value] = []
    for id in 1...2 {
      try await caller.call(.integer(Int64(id)), "router.invoke", ["uri": "action://x"])
      requests.append(try await host.nextRequest("task.run"))
      try await caller.notify("$/cancelRequest", ["id": .integer(Int64(id))])
      #expect(try await caller.response(.integer(Int64(id)))["error"]?["code"] == -32800)
    }
    try await caller.call(3, "router.invoke", ["uri": "action://x"])
    #expect(try await caller.response(3)["error"]?["code"] == 2429)
    try await host.respond(requests[0], .null)
    // The server processes its response before its next request.
    try await host.call("ping", "$/ping", [:])
    _ = try await host.response("ping")
    try await caller.call(4, "router.invoke", ["uri": "action://x"])
    try await host.respond(try await host.nextRequest("task.run"), 4)
    #expect(try await caller.response(4)["result"] == 4)
  }

  @Test func rejectsCallsToOverloadedHost() async throws {
    var limits = Limits()
    limits.maxInFlight = 1
    let bridge = InMemoryBridge(router, limits: limits)
    let (host, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "action", "kind": "task"]]])
    // It may have four pending responses for each call that a client may have in flight.
    for number in 1...5 {
      let (caller, _) = try await WireClient.open(bridge, joining: opened)
      try await caller.call(1, "router.invoke", ["uri": "action://x"])
      if number == 5 {
        #expect(try await caller.response(1)["error"]?["code"] == 2429)
      } else {
        _ = try await host.nextRequest("task.run")
      }
    }
    #expect(try await host.hasNoPendingMessages())
  }

  @Test func limitsCallRate() async throws {
    var limits = Limits()
    limits.maxRate = 100
    limits.maxBurst = 3
    let bridge = InMemoryBridge(router, limits: limits)
    let client = try await WireClient.connect(to: bridge)
    // Members of batches and notifications count too.
    try await client.batch([
      ["jsonrpc": "2.0", "id": 1, "method": "$/ping"], ["jsonrpc": "2.0", "method": "$/ping"],
    ])
    _ = try await client.nextMessage()
    try await client.call(2, "$/ping", [:])
    #expect(try await client.response(2)["result"] == .null)
    try await client.call(3, "$/ping", [:])
    let rejected = try await client.response(3)["error"]
    #expect(rejected?["code"] == 2429)
    let wait = try #require(rejected?["data"]?["retryAfterMs"]?.integer)
    #expect((1...10).contains(wait))
    try await bridge.server.advance(by: .milliseconds(wait))
    try await client.call(4, "$/ping", [:])
    #expect(try await client.response(4)["result"] == .null)
    try await client.call(5, "$/ping", [:])
    #expect(try await client.response(5)["error"]?["code"] == 2429)
    let other = try await WireClient.connect(to: bridge)
    try await other.call(6, "$/ping", [:])
    #expect(try await other.response(6)["result"] == .null)
  }

  @Test func batchStopsWhenResponsesExceedLimit() async throws {
    var limits = Limits()
    limits.maxAnswer = 1_000
    let runs = AtomicRunCounter()
    try router.task("action://large") { _ in
      runs.increment()
      return .string(String(repeating: "x", count: 400))
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    try await client.batch(
      (1...6).map { id in
        [
          "jsonrpc": "2.0", "id": .integer(id), "method": "router.invoke",
          "params": ["uri": "action://large"],
        ]
      })
    let responses = try #require(try await client.nextMessage().array)
    #expect(responses.map { $0["error"]?["code"] } == [nil, nil, 2413, 2413, 2413, 2413])
    #expect(runs.value == 3)
  }

  @Test func limitsParamsOfCallsInFlight() async throws {
    var limits = Limits()
    limits.maxAnswer = 1_000
    limits.maxQueueBytes = 1_000
    limits.maxClientBytes = 20_000
    let (bridge, host, caller) = try await openHostAndCaller(limits)
    let params: Value = [
      "uri": "action://x", "params": ["text": .string(String(repeating: "x", count: 12_000))],
    ]
    try await caller.call(1, "router.invoke", params)
    let request = try await host.nextRequest("task.run")
    #expect(bridge.sessionServer.budget.used > 12_000)
    try await caller.call(2, "router.invoke", params)
    #expect(try await caller.response(2)["error"]?["code"] == 2429)
    try await host.respond(request, .null)
    _ = try await caller.response(1)
    #expect(bridge.sessionServer.budget.used < 12_000)
    try await caller.call(3, "router.invoke", params)
    try await host.respond(try await host.nextRequest("task.run"), 3)
    #expect(try await caller.response(3)["result"] == 3)
  }

  @Test func limitsPatternsPerSessionAndReleasesThem() async throws {
    var limits = Limits()
    limits.maxPatterns = 3
    let client = try await WireClient.connect(to: InMemoryBridge(router, limits: limits))
    let two: Value = ["hosts": [["patterns": ["action://a", "action://b"], "kind": "task"]]]
    // One pattern with two expansions.
    let group: Value = ["hosts": [["patterns": ["action://c(/d)"], "kind": "task"]]]
    try await client.call(1, "host.register", two)
    #expect(try await client.response(1)["result"] != nil)
    try await client.call(2, "host.register", group)
    #expect(try await client.response(2)["error"]?["code"] == 2429)
    try await client.call(3, "host.register", two)
    #expect(try await client.response(3)["result"] != nil)
    try await client.call(4, "host.unregister", two)
    _ = try await client.response(4)
    try await client.call(5, "host.register", group)
    #expect(try await client.response(5)["result"] != nil)
  }

  @Test func logsThrownErrorAndHidesItFromCaller() async throws {
    struct Secret: Error {}
    try router.task("action://fail") { _ in throw Secret() }
    try router.task("action://tell") { _ in throw CallError(code: 7, message: "no tea") }
    let failures = Mailbox<(Int, String)>()
    var observer = EventSink()
    observer.emit = { _, event, _ in
      if case .handlerThrew(let number, let error) = event { failures.put((number, "\(error)")) }
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router, observer: observer))
    try await client.call(1, "router.invoke", ["uri": "action://fail"])
    let error = try await client.response(1)["error"]
    let (number, text) = try await failures.receive()
    #expect(error?["code"] == -32603)
    #expect(error?["data"]?["failure"] == .integer(Int64(number)))
    #expect(error?["message"]?.string?.contains("Secret") == false)
    #expect(text.contains("Secret"))
    try await client.call(2, "router.invoke", ["uri": "action://tell"])
    #expect(try await client.response(2)["error"]?["message"] == "no tea")
  }

  @Test func cancelsCallsInFlightOnShutdown() async throws {
    let (bridge, host, caller) = try await openHostAndCaller(Limits())
    try await caller.call(1, "router.invoke", ["uri": "action://x"])
    _ = try await host.nextRequest("task.run")
    await bridge.sessionServer.drain()
    #expect(try await caller.response(1)["error"]?["code"] == -32802)
    try await caller.call(2, "router.invoke", ["uri": "action://x"])
    #expect(try await caller.response(2)["error"]?["code"] == 2503)
    try await caller.call(3, "$/ping", [:])
    #expect(try await caller.response(3)["result"] == .null)
  }
}

/// A thread-safe counter.
private final class AtomicRunCounter: Sendable {
  private let count = Atomic(0)
  func increment() { count.add(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}

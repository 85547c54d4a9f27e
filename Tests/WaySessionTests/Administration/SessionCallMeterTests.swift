import TestSupport
import Testing
import WayRouting
import WaySession
import WayValues

/// The counts of a bridge's calls and contents.
@Suite(.timeLimit(.minutes(2)))
struct SessionCallMeterTests {
  private let router = Router()

  private func callCounts(_ bridge: InMemoryBridge) async -> [String: [String: Int]] {
    // Read on the loop, so that earlier work on it has finished.
    _ = await bridge.sessionServer.totals()
    return Dictionary(
      uniqueKeysWithValues: bridge.loopSessions.meter.counts.map {
        ($0.method, Dictionary(uniqueKeysWithValues: $0.outcomes))
      })
  }

  @Test(
    arguments: [
      (["method": "router.invoke", "params": ["uri": "action://good"]], "router.invoke", "ok"),
      (
        ["method": "router.invoke", "params": ["uri": "action://own"]], "router.invoke",
        "application"
      ),
      (
        ["method": "router.invoke", "params": ["uri": "action://bad"]], "router.invoke", "internal"
      ),
      (["method": "router.open", "params": ["uri": "action://later"]], "router.open", "ok"),
      (["method": "router.open", "params": ["uri": "x://none"]], "router.open", "noRoute"),
      (["method": "session.open", "params": ["protocol": ["1.0"]]], "session.open", "ok"),
      (["method": "session.open", "params": ["protocol": ["9"]]], "session.open", "invalidParams"),
      (["method": "nobody's \"method\"\n"], "other", "methodNotFound"),
      (["methods": "?"], "other", "invalidRequest"),
    ] as [(Value, String, String)])
  func countsCallsByMethodAndOutcome(
    _ message: Value, _ method: String, _ outcome: String
  ) async throws {
    try router.task("action://good") { _ in true }
    try router.task("action://own") { _ in throw CallError(code: 7, message: "") }
    try router.task("action://bad") { _ in throw CallError(code: -1, message: "") }
    try router.task("action://later") { _ async in true }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    var request: ValueObject = ["jsonrpc": "2.0", "id": 1]
    for member in message.object?.members ?? [] { request[member.name] = member.value }
    try await client.send(.object(request))
    _ = try? await client.nextMessage()
    try await client.call(2, "$/ping", [:])
    _ = try? await client.nextMessage()
    #expect(await callCounts(bridge)[method] == [outcome: 1])
  }

  @Test func countsNotificationsAndCallsOfClosedClients() async throws {
    try router.task("action://good") { _ in true }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.notify("router.invoke", ["uri": "action://good"])
    try await client.call(1, "host.register", ["hosts": [["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.invoke", ["uri": "slow://task"])
    _ = try await client.nextRequest("task.run")
    try await client.close()
    _ = try? await client.nextMessage()
    #expect(await callCounts(bridge)["router.invoke"] == ["ok": 1, "cancelledByServer": 1])
  }

  @Test func measuresDurationUntilResponse() async throws {
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "host.register", ["hosts": [["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.invoke", ["uri": "slow://task"])
    let taskRequest = try await client.nextRequest("task.run")
    try await bridge.server.advance(by: .milliseconds(700))
    try await client.respond(taskRequest, .null)
    _ = try await client.response(2)
    let invoke = try #require(
      bridge.loopSessions.meter.counts.first { $0.method == "router.invoke" })
    #expect(invoke.durations.nanoseconds == 700_000_000)
    let bucket = try #require(invoke.durations.buckets.firstIndex(of: 1))
    #expect(CallDurationHistogram.bounds[bucket] == 1_000_000_000)
  }

  @Test(
    arguments: [(0, 0), (2_500, 0), (2_501, 1), (60_000_000_000, 13), (.max, 14)] as [(UInt64, Int)]
  )
  func recordsDurationInSmallestBucket(_ nanoseconds: UInt64, _ bucket: Int) {
    let histogram = CallDurationHistogram()
    histogram.record(nanoseconds: nanoseconds)
    #expect(histogram.counts.buckets.firstIndex(of: 1) == bucket)
  }

  @Test func totalsReturnToZeroAfterClose() async throws {
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.call(
      1, "host.register",
      ["hosts": [["scheme": "native", "kind": "page"], ["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.open", ["uri": "native://one"])
    try await client.respond(try await client.nextRequest("page.open"), .null)
    try await client.call(3, "router.invoke", ["uri": "slow://task"])
    _ = try await client.nextRequest("task.run")
    let totals = await bridge.sessionServer.totals()
    #expect(totals.sessions == 1)
    #expect(totals.clients == 1)
    #expect(totals.hosts == 2)
    #expect(totals.pages == 1)
    #expect(totals.callsInFlight == 2)
    #expect(totals.pendingRequests == 1)
    try await client.close()
    _ = try? await client.nextMessage()
    #expect(await bridge.sessionServer.totals() == SessionTotals())
  }
}

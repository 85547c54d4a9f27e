import TestSupport
import Testing
import WayRouting
import WaySession
import WayValues

/// What a bridge counts of its calls and of what it holds.
@Suite(.timeLimit(.minutes(2)))
struct SessionCallMeterTests {
  private let router = Router()

  private func counts(_ bridge: InMemoryBridge) async -> [String: [String: Int]] {
    // Asked of the loop, so that what was begun there is done.
    _ = await bridge.hub.census()
    return Dictionary(
      uniqueKeysWithValues: bridge.loopHub.meter.counts.map {
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
  func everyCallIsCountedByMethodAndOutcome(
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
    _ = try? await client.message()
    try await client.call(2, "$/ping", [:])
    _ = try? await client.message()
    #expect(await counts(bridge)[method] == [outcome: 1])
  }

  @Test func aNotificationIsCountedAndSoIsACallWhoseClientHasLeft() async throws {
    try router.task("action://good") { _ in true }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.notify("router.invoke", ["uri": "action://good"])
    try await client.call(1, "host.register", ["hosts": [["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.invoke", ["uri": "slow://task"])
    _ = try await client.request("task.run")
    try await client.close()
    _ = try? await client.message()
    #expect(await counts(bridge)["router.invoke"] == ["ok": 1, "cancelledByServer": 1])
  }

  @Test func aCallsDurationIsTheTimeUntilItsAnswer() async throws {
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "host.register", ["hosts": [["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.invoke", ["uri": "slow://task"])
    let asked = try await client.request("task.run")
    try await bridge.server.advance(by: .milliseconds(700))
    try await client.reply(asked, .null)
    _ = try await client.answer(2)
    let invoke = try #require(bridge.loopHub.meter.counts.first { $0.method == "router.invoke" })
    #expect(invoke.durations.nanoseconds == 700_000_000)
    let bucket = try #require(invoke.durations.buckets.firstIndex(of: 1))
    #expect(CallDurationHistogram.bounds[bucket] == 1_000_000_000)
  }

  @Test(
    arguments: [(0, 0), (2_500, 0), (2_501, 1), (60_000_000_000, 13), (.max, 14)] as [(UInt64, Int)]
  )
  func aDurationFallsIntoTheFirstBucketThatHoldsIt(_ nanoseconds: UInt64, _ bucket: Int) {
    let histogram = CallDurationHistogram()
    histogram.record(nanoseconds: nanoseconds)
    #expect(histogram.counts.buckets.firstIndex(of: 1) == bucket)
  }

  @Test func whatThereIsIsCountedAndNothingIsLeftWhenAllHaveGone() async throws {
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.call(
      1, "host.register",
      ["hosts": [["scheme": "native", "kind": "page"], ["scheme": "slow", "kind": "task"]]])
    try await client.call(2, "router.open", ["uri": "native://one"])
    try await client.reply(try await client.request("page.open"), .null)
    try await client.call(3, "router.invoke", ["uri": "slow://task"])
    _ = try await client.request("task.run")
    let census = await bridge.hub.census()
    #expect(census.sessions == 1)
    #expect(census.clients == 1)
    #expect(census.hosts == 2)
    #expect(census.pages == 1)
    #expect(census.callsInFlight == 2)
    #expect(census.pendingRequests == 1)
    try await client.close()
    _ = try? await client.message()
    #expect(await bridge.hub.census() == SessionTotals())
  }
}

import TestSupport
import Testing
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// Events that clients publish in their session.
@Suite(.timeLimit(.minutes(1)))
struct ClientPublishTests {
  private func bridge(
    _ topics: [String], limits: Limits = Limits(), policy rules: [Policy.Rule]? = nil
  ) throws -> InMemoryBridge {
    let router = Router()
    let table = try RouteTable(parsing: [
      "version": "1", "routes": [],
      "topics": .object(ValueObject(topics.map { ($0, [:]) })),
    ])
    try table.apply(to: router)
    return InMemoryBridge(
      router, limits: limits, rules: try rules.map { rules in try CompiledPolicy(rules) })
  }

  private func publish(
    _ client: WireClient, _ topic: Value, _ data: Value = .null, retain: Value = 0
  ) async throws -> Value {
    try await client.request(
      "events.publish", ["topic": topic, "data": data, "retain": retain])
  }

  @Test func stopsPublisherBeforeItFillsAnOutbox() async throws {
    var limits = Limits()
    limits.maxOutboxMessages = 40
    let bridge = try bridge(["own"], limits: limits)
    let (reader, opened) = try await WireClient.open(bridge)
    try await reader.subscribe("own")
    let (first, _) = try await WireClient.open(bridge, joining: opened)
    for _ in 0..<10 { #expect(try await publish(first, "own")["result"]?["delivered"] == 1) }
    let error = try await publish(first, "own")["error"]
    #expect(error?["code"] == 2429)
    #expect(error?["data"] == ["kind": "tooMany", "retryable": true, "retryAfterMs": 100])
    // The clients of a session share twice as much.
    let (second, _) = try await WireClient.open(bridge, joining: opened)
    for _ in 0..<10 { #expect(try await publish(second, "own")["error"] == nil) }
    let (third, _) = try await WireClient.open(bridge, joining: opened)
    #expect(try await publish(third, "own")["error"]?["data"]?["retryAfterMs"] == 50)
    // Another session has its own limit.
    let (other, _) = try await WireClient.open(bridge)
    #expect(try await publish(other, "own")["error"] == nil)
    try await bridge.server.advance(by: .milliseconds(100))
    #expect(try await publish(first, "own")["error"] == nil)
    #expect(try await publish(first, "own")["error"]?["code"] == 2429)
    for _ in 0..<21 { _ = try await reader.nextEvent() }
    #expect(try await reader.hasNoPendingMessages())
  }

  @Test func limitsBytesOfEvents() async throws {
    var limits = Limits()
    limits.maxBacklog = 40_000
    let bridge = try bridge(["own"], limits: limits)
    let (client, _) = try await WireClient.open(bridge)
    // An event of any size may follow a pause.
    let large = Value.string(String(repeating: "x", count: 30_000))
    #expect(try await publish(client, "own", large)["error"] == nil)
    let wait = try await publish(client, "own")["error"]?["data"]?["retryAfterMs"]?.integer
    #expect((2000...2100).contains(wait ?? 0))
    try await bridge.server.advance(by: .milliseconds(wait ?? 0))
    #expect(try await publish(client, "own")["error"] == nil)
  }

  @Test func retainsLatestEventsOfSession() async throws {
    let topics = (0...64).map { "t.\($0)" }
    let bridge = try bridge(topics)
    let (client, opened) = try await WireClient.open(bridge)
    let session = try #require(opened["session"]?.string)
    for topic in topics { _ = try await publish(client, .string(topic), retain: 1) }
    _ = try await publish(client, "t.64", 2, retain: 1)
    try await bridge.sessionServer.dispatch.publish("t.app", 1, to: .session(session), retain: 1)
    let (late, _) = try await WireClient.open(bridge, joining: opened)
    try await late.subscribe("t.*")
    // The oldest topic was dropped, and the events of the app are apart.
    for topic in topics[1..<64] {
      #expect(try await late.nextEvent()["topic"] == .string(topic))
    }
    #expect(try await late.nextEvent()["data"] == 2)
    let last = try await late.nextEvent()
    #expect(last["topic"] == "t.app" && last["client"] == nil)
    #expect(try await late.hasNoPendingMessages())
    await bridge.sessionServer.dispatch.forget("t.64", for: .session(session))
    _ = try await late.request("events.unsubscribe", ["topics": ["t.*"]])
    try await late.subscribe("t.64")
    #expect(try await late.hasNoPendingMessages())
    let (other, _) = try await WireClient.open(bridge)
    try await other.subscribe("*")
    #expect(try await other.hasNoPendingMessages())
  }

  @Test func chargesRetainedBytesToSession() async throws {
    let bridge = try bridge(["own"])
    let (client, opened) = try await WireClient.open(bridge)
    let large = Value.string(String(repeating: "x", count: 200 << 10))
    let used = bridge.sessionServer.budget.used
    #expect(try await publish(client, "own", large, retain: 2)["error"] == nil)
    #expect(bridge.sessionServer.budget.used - used > 200 << 10)
    // The second event has no room beside the first one.
    try await bridge.server.advance(by: .seconds(2))
    #expect(try await publish(client, "own", large, retain: 2)["error"] == nil)
    #expect(bridge.sessionServer.budget.used - used < 300 << 10)
    let huge = Value.string(String(repeating: "x", count: 256 << 10))
    #expect(try await publish(client, "own", huge, retain: 1)["error"]?["code"] == 2413)
    try await client.close()
    await bridge.server.loop.settle()
    #expect(bridge.sessionServer.budget.used == used)
    withExtendedLifetime(opened) {}
  }

  @Test func clearingReleasesRetainedBytes() async throws {
    let bridge = try bridge(["own", "other"])
    let (client, opened) = try await WireClient.open(bridge)
    let used = bridge.sessionServer.budget.used
    for topic: Value in ["own", "other"] {
      #expect(try await publish(client, topic, "kept", retain: 2)["error"] == nil)
    }
    let retained = bridge.sessionServer.budget.used - used
    for topic: Value in ["own", "own", "other"] {
      let cleared = try await client.request("events.publish", ["topic": topic, "clear": true])
      #expect(cleared["result"] == ["delivered": 0, "waiting": 0])
    }
    #expect(retained > 0 && bridge.sessionServer.budget.used == used)
    withExtendedLifetime(opened) {}
  }

  @Test func countsSubscribersWithoutConnection() async throws {
    let bridge = try bridge(["own"])
    let (client, opened) = try await WireClient.open(bridge)
    let reader = try await SequencedClient(bridge, joining: opened)
    try await reader.call(1, "events.subscribe", ["topics": ["own"]])
    _ = try await reader.wire.response(1)
    try await client.subscribe("own")
    try await reader.disconnect()
    try await client.call(1, "events.publish", ["topic": "own", "data": 7])
    #expect(try await client.nextEvent()["data"] == 7)
    #expect(try await client.response(1)["result"] == ["delivered": 1, "waiting": 1])
    #expect(try await reader.resume(after: 1)["resumed"] == true)
    #expect(try await reader.wire.nextEvent()["client"] == opened["client"])
  }

  @Test func namesNoTopicThatCallerMayNotPublish() async throws {
    let bridge = try bridge(
      ["cart.changed", "carl.changed"],
      policy: [
        Policy.Rule("all", .allow, ["*"]), Policy.Rule("no", .deny, ["*"], topics: ["cart.*"]),
      ])
    let (client, _) = try await WireClient.open(bridge)
    let error = try await publish(client, "cars.changed")["error"]
    #expect(error?["data"] == ["kind": "noTopic", "retryable": false])
    #expect(
      error?["message"]
        == "The route table declares no topic \"cars.changed\"; did you mean \"carl.changed\"?")
    #expect(try await publish(client, "cart.changed")["error"]?["data"]?["rule"] == "no")
  }

  @Test func needsRouteTable() async throws {
    let (client, _) = try await WireClient.open(InMemoryBridge(Router()))
    let error = try await publish(client, "own")["error"]
    #expect(error?["code"] == 2404)
    #expect(
      error?["message"]
        == "The server has no route table, and clients may publish only topics that a table declares"
    )
  }

  @Test func checksDataAgainstTableInForce() async throws {
    let router = Router()
    func table(_ type: Value) throws -> RouteTable {
      try RouteTable(parsing: [
        "version": "1", "routes": [], "topics": ["own": ["data": ["type": type]]],
      ])
    }
    try table("integer").apply(to: router)
    let (client, _) = try await WireClient.open(InMemoryBridge(router))
    #expect(try await publish(client, "own", 1)["error"] == nil)
    try table("string").apply(to: router, replacing: true)
    let error = try await publish(client, "own", 1)["error"]
    #expect(error?["code"] == 2422)
    #expect(
      error?["data"]?["errors"]
        == [["path": "$.data", "message": "has to be a string; it is a number"]])
  }

  @Test func deliversEventToSwiftCode() async throws {
    let bridge = try bridge(["own"])
    let (client, opened) = try await WireClient.open(bridge)
    var events = try await bridge.sessionServer.events(["own"], limit: 8).makeAsyncIterator()
    _ = try await publish(client, "own", 1)
    #expect(
      try await events.next()
        == BridgeEvent(
          topic: "own", data: 1, at: InMemoryBridge.startTime, session: opened["session"]?.string,
          client: opened["client"]?.string))
  }

}

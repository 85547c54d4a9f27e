import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct ClientEventTests {
  private let server = ScriptedServer()

  private func subscribe(
    _ client: BridgeClient, _ topics: [String], buffer: Int = 16
  ) async throws -> BridgeClient.Events {
    let events = Task { try await client.events(topics, buffer: buffer) }
    let request = try await server.next()
    #expect(request["method"] == "events.subscribe")
    #expect(request["params"] == ["topics": .array(topics.map(Value.string))])
    try await server.respond(request, ["topics": .array(topics.map(Value.string))])
    return try await events.value
  }

  private func publish(_ topic: String, _ data: Value = .null, at: Int64 = 0) async throws {
    try await server.send([
      "jsonrpc": "2.0", "method": "event",
      "params": ["topic": .string(topic), "data": data, "at": .integer(at)],
    ])
  }

  @Test func streamYieldsEventsOfItsTopicsInOrder() async throws {
    let client = try await server.openClient()
    var pages = try await subscribe(client, ["page.*", "exact"]).makeAsyncIterator()
    try await publish("task.started")
    try await publish("page.opened", ["page": "p1"], at: 1_700_000_000_000)
    try await publish("exactly")
    try await publish("exact", 2)
    #expect(
      try await pages.next()
        == BridgeClient.Event(
          topic: "page.opened", data: ["page": "p1"], at: 1_700_000_000_000))
    #expect(try await pages.next() == BridgeClient.Event(topic: "exact", data: 2, at: 0))
    await client.close()
    #expect(try await pages.next() == nil)
  }

  @Test func retainedEventBeforeTheResponseIsNotLost() async throws {
    let client = try await server.openClient()
    let subscribing = Task { try await client.events(["weather"]) }
    let request = try await server.next()
    try await publish("weather", "rain")
    try await server.respond(request, ["topics": ["weather"]])
    var events = try await subscribing.value.makeAsyncIterator()
    #expect(try await events.next()?.data == "rain")
    await client.close()
  }

  @Test func publishesEventOfItsSession() async throws {
    let client = try await server.openClient()
    let publishing = Task { try await client.publish(EventTopic<[Int]>("numbers"), [1], retain: 2) }
    let request = try await server.next()
    #expect(request["method"] == "events.publish")
    #expect(request["params"] == ["topic": "numbers", "data": [1], "retain": 2])
    try await server.respond(request, ["delivered": 3, "waiting": 1])
    #expect(try await publishing.value == BridgeClient.PublishReceipt(delivered: 3, waiting: 1))
    let clearing = Task { try await client.clearRetained("numbers") }
    let cleared = try await server.next()
    #expect(cleared["method"] == "events.publish")
    #expect(cleared["params"] == ["topic": "numbers", "clear": true])
    try await server.respond(cleared, ["delivered": 0, "waiting": 0])
    try await clearing.value
    let failing = Task { try await client.publish("numbers") }
    try await server.respond(try await server.next(), nil)
    let error = await #expect(throws: CallError.self) { try await failing.value }
    #expect(error?.code == -32603)
    var events = try await subscribe(client, ["numbers"]).makeAsyncIterator()
    try await server.send([
      "jsonrpc": "2.0", "method": "event",
      "params": ["topic": "numbers", "data": [1], "at": 5, "client": "c-7"],
    ])
    #expect(
      try await events.next()
        == BridgeClient.Event(topic: "numbers", data: [1], at: 5, client: "c-7"))
    await client.close()
  }

  @Test func unsubscribesATopicWithItsLastStream() async throws {
    let client = try await server.openClient()
    var first: BridgeClient.Events? = try await subscribe(client, ["a", "b"])
    let second = try await subscribe(client, ["b"])
    #expect(first != nil)
    first = nil
    let request = try await server.next()
    #expect(request["method"] == "events.unsubscribe")
    #expect(request["params"] == ["topics": ["a"]])
    try await publish("b", 1)
    var events = second.makeAsyncIterator()
    #expect(try await events.next()?.data == 1)
    await client.close()
  }

  @Test func slowReaderFailsWithBufferOverflow() async throws {
    let client = try await server.openClient()
    let events = try await subscribe(client, ["tick"], buffer: 2)
    for count in 0..<3 { try await publish("tick", .integer(Int64(count))) }
    // This message shows that the client has received the events.
    _ = try await server.next()
    var data: [Value] = []
    let error = await #expect(throws: CallError.self) {
      for try await event in events { data.append(event.data) }
    }
    #expect(error?.code == 2429)
    #expect(data == [0, 1])
    await client.close()
  }

  @Test func lostConnectionFailsTheEventStream() async throws {
    let client = try await server.openClient()
    let events = try await subscribe(client, ["tick"])
    try await server.close(.drain)
    let error = await #expect(throws: CallError.self) { for try await _ in events {} }
    #expect(error?.code == 2599)
    #expect(await client.waitUntilEnded().code == 4200)
  }

  @Test func rejectedSubscriptionThrowsAndUnsubscribesNothing() async throws {
    let client = try await server.openClient()
    let subscribing = Task { try await client.events(["no topic"]) }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "id": request["id"] ?? .null,
      "error": ["code": -32602, "message": "no topic"],
    ])
    await #expect(throws: CallError(code: -32602, message: "no topic")) {
      try await subscribing.value
    }
    let ping = Task { try await client.request("$/ping") }
    #expect(try await server.next()["method"] == "$/ping")
    await client.close()
    await #expect(throws: CallError.self) { try await ping.value }
  }

  @Test func returnsTheClientsOfTheSession() async throws {
    let client = try await server.openClient()
    let asking = Task { try await client.clients() }
    let request = try await server.next()
    #expect(request["method"] == "session.clients")
    try await server.respond(
      request,
      [
        "clients": [
          ["client": "c-1", "name": "shell", "user": "ada"],
          ["client": "c-2", "page": "p1", "guest": true, "away": true],
        ]
      ])
    let clients = try await asking.value
    #expect(clients.map(\.client) == ["c-1", "c-2"])
    #expect(clients.map(\.user) == ["ada", nil])
    #expect(clients.map(\.page) == [nil, "p1"])
    #expect(clients.map(\.isGuest) == [false, true])
    #expect(clients.map(\.isAway) == [false, true])
    let wrong = Task { try await client.clients() }
    try await server.respond(try await server.next(), ["clients": [[:]]])
    await #expect(throws: CallError.self) { try await wrong.value }
    await client.close()
  }

  @Test func rejectsABufferSizeOfZero() async throws {
    let client = try await server.openClient()
    let error = await #expect(throws: CallError.self) {
      try await client.events(["a"], buffer: 0)
    }
    #expect(error?.code == -32602)
    await client.close()
  }
}

import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayValues

@testable import WaySession

/// The server's own events, heard by Swift code.
@Suite(.timeLimit(.minutes(1)))
struct SystemEventTests {
  private let router = Router()

  @Test func theLifeOfASessionIsHeardFromItsBeginningToItsEnd() async throws {
    try router.task("action://wave") { _ in 1 }
    let bridge = InMemoryBridge(router)
    let events = try await bridge.hub.events(["session.*", "task.finished"], limit: 100)
    let (client, hello) = try await WireClient.open(bridge)
    let (guest, guestHello) = try await WireClient.open(bridge, joining: hello)
    try await client.call(1, "router.invoke", ["uri": "action://wave"])
    _ = try await client.answer(1)
    try await guest.close()
    try await client.close()
    let session = hello["session"] ?? .null
    let expected: [(String, Value)] = [
      ("session.opened", ["session": session, "client": hello["client"] ?? .null]),
      ("session.joined", ["session": session, "client": guestHello["client"] ?? .null]),
      (
        "task.finished",
        ["session": session, "call": 1, "uri": "action://wave", "route": "action://wave"]
      ),
      ("session.left", ["session": session, "client": guestHello["client"] ?? .null]),
      ("session.left", ["session": session, "client": hello["client"] ?? .null]),
      ("session.closed", ["session": session]),
    ]
    var heard = events.makeAsyncIterator()
    for (topic, data) in expected {
      #expect(
        try await heard.next() == BridgeEvent(topic: topic, data: data, at: InMemoryBridge.now))
    }
  }

  @Test func aReaderThatFallsBehindIsTold() async throws {
    let bridge = InMemoryBridge(router)
    let events = try await bridge.hub.events(["*"], limit: 2)
    let (client, hello) = try await WireClient.open(bridge)
    for _ in 0..<2 { _ = try await WireClient.open(bridge, joining: hello) }
    var heard = events.makeAsyncIterator()
    #expect(try await heard.next()?.topic == "session.opened")
    #expect(try await heard.next()?.topic == "session.joined")
    let error = await #expect(throws: CallError.self) { _ = try await heard.next() }
    #expect(error?.code == 2429)
    _ = client
  }

  @Test func aReaderThatLetsGoIsNotServedAnyMore() async throws {
    let bridge = InMemoryBridge(router)
    let (_, hello) = try await WireClient.open(bridge)
    let session = try #require(hello["session"]?.string)
    do {
      let events = try await bridge.hub.events(["*"], limit: 2)
      #expect(await bridge.loopHub.heard(in: session) == [.session, .page, .task, .route])
      _ = events
    }
    while await bridge.loopHub.heard(in: session) != [] { await Task.yield() }
  }

  @Test func nothingIsToldOnceTheSubscriberHasLeft() async throws {
    let bridge = InMemoryBridge(router)
    let (_, hello) = try await WireClient.open(bridge)
    let session = try #require(hello["session"]?.string)
    let (guest, _) = try await WireClient.open(bridge, joining: hello)
    try await guest.subscribe("page.*", "own")
    #expect(await bridge.loopHub.heard(in: session) == .page)
    try await guest.close()
    _ = try? await guest.message()
    #expect(await bridge.loopHub.heard(in: session) == [])
  }

  @Test func aCallOfSwiftCodeThatComesToNobodyIsTold() async throws {
    try router.task("action://lost") { call in
      try await call.navigator.invoke("action://nowhere")
    }
    let bridge = InMemoryBridge(router)
    let (client, hello) = try await WireClient.open(bridge)
    try await client.subscribe("route.failed")
    try await client.call(1, "router.invoke", ["uri": "action://lost"])
    #expect(
      try await client.event()["data"]
        == [
          "session": hello["session"] ?? .null, "uri": "action://nowhere", "code": 2404,
          "kind": "noRoute",
        ])
  }

  @Test(arguments: ["action://now", "action://later", "action://outer"])
  func aTaskThatFailsIsNoRouteThatFails(uri: String) async throws {
    try router.task("action://now") { _ in throw CallError(code: 7, message: "no") }
    try router.task("action://later") { _ async throws in throw CallError(code: 7, message: "no") }
    try router.task("action://outer") { call in try await call.navigator.invoke("action://now") }
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(bridge)
    try await client.subscribe("route.failed", "task.failed")
    try await client.call(1, "router.invoke", ["uri": .string(uri)])
    var topics: [Value?] = []
    while case let message = try await client.message(), message["id"] != 1 {
      topics.append(message["params"]?["topic"])
    }
    let count = uri == "action://outer" ? 2 : 1
    #expect(topics == Array(repeating: "task.failed", count: count))
  }

  @Test func aTaskThatDeclinesAfterItsCallWasCancelledHasEndedOnce() async throws {
    try router.task("action://waits") { _ async throws in
      do { try await Task.sleep(for: .seconds(3600)) } catch { throw Declined() }
      return nil
    }
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(bridge)
    try await client.subscribe("task.*")
    try await client.call(1, "router.invoke", ["uri": "action://waits"])
    #expect(try await client.event()["topic"] == "task.started")
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.event()["data"]?["code"] == -32800)
    #expect(try await client.message()["error"]?["code"] == -32800)
    while await bridge.hub.census().callsInFlight > 0 { await Task.yield() }
    #expect(try await client.hasHeardNothing())
  }

  @Test func whatWaitsWhenTheSessionEndsIsNotBegun() async throws {
    let shown = Mailbox<String>()
    let asked = Mailbox<Bool>()
    try router.page("native://a")
    try router.page(
      "sdk:p", PageHandler(open: { page, _ in shown.put(page.id) }, close: { _, _, _ in }))
    try router.task("action://go") { call in
      async let first = call.navigator.open("native://a")
      _ = try await asked.take()
      let second = try await call.navigator.open("sdk:p")
      _ = try await first
      return second.data
    }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge, hosting: ["native"])
    try await client.notify("router.invoke", ["uri": "action://go"])
    _ = try await client.request("page.open")
    asked.put(true)
    while await bridge.hub.census().callsInFlight < 3 { await Task.yield() }
    try await client.close()
    _ = try? await client.message()
    while await bridge.hub.census() != SessionTotals() { await Task.yield() }
    shown.put("nothing")
    #expect(try await shown.take() == "nothing")
  }

  @Test func aLaterVersionIsToldSoWhateverElseItSays() async throws {
    let client = try await WireClient.connect(
      to: InMemoryBridge(router), subprotocol: LoopSessions.subprotocol)
    try await client.call(1, "session.open", ["protocol": ["2.0"], "token": ["bearer": "x"]])
    #expect(try await client.answer(1)["error"]?["data"]?["kind"] == "version")
  }

  @Test func aSessionThatHasEndedIsNotThereAnyMore() async throws {
    let bridge = InMemoryBridge(router)
    let stuck = StalledChannel(to: bridge)
    for (method, count) in [("$/ping", 1), ("session.close", 0)] {
      try await stuck.receive(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#)
      #expect(await bridge.hub.allServers.sessions(.all).count == count)
    }
    #expect(await bridge.hub.census().sessions == 0)
  }

  @Test func theStreamEndsWithTheServer() async throws {
    let bridge = InMemoryBridge(router)
    let events = try await bridge.hub.events(["*"], limit: 2)
    await bridge.hub.endListening()
    var heard = events.makeAsyncIterator()
    #expect(try await heard.next() == nil)
  }

  @Test(arguments: [(["a b"], 1), ([""], 1), (["*"], 0)])
  func aWrongTopicIsRefused(topics: [String], limit: Int) async {
    let error = await #expect(throws: CallError.self) {
      try await InMemoryBridge(router).hub.events(topics, limit: limit)
    }
    #expect(error?.code == -32602)
  }

  @Test func everyTopicIsDescribed() throws {
    let text = try ProjectFiles.text("protocol/PROTOCOL.md")
    for topic in SystemTopic.allCases { #expect(text.contains("| `\(topic.rawValue)` |")) }
  }
}

extension LoopSessions {
  fileprivate func heard(in session: String) -> Happening.Kinds? {
    sessions[session]?.assumeIsolated { $0.happenings.subscribers.kinds }
  }
}

import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The server's own events, received in Swift.
@Suite(.timeLimit(.minutes(1)))
struct SystemEventTests {
  private let router = Router()

  @Test func reportsSessionLifecycle() async throws {
    try router.task("action://wave") { _ in 1 }
    let bridge = InMemoryBridge(router)
    let events = try await bridge.sessionServer.events(["session.*", "task.finished"], limit: 100)
    let (client, opened) = try await WireClient.open(bridge)
    let (guest, guestOpened) = try await WireClient.open(bridge, joining: opened)
    try await client.call(1, "router.invoke", ["uri": "action://wave"])
    _ = try await client.response(1)
    try await guest.close()
    try await client.close()
    let session = opened["session"] ?? .null
    let expected: [(String, Value)] = [
      ("session.opened", ["session": session, "client": opened["client"] ?? .null]),
      ("session.joined", ["session": session, "client": guestOpened["client"] ?? .null]),
      (
        "task.finished",
        ["session": session, "call": 1, "uri": "action://wave", "route": "action://wave"]
      ),
      ("session.left", ["session": session, "client": guestOpened["client"] ?? .null]),
      ("session.left", ["session": session, "client": opened["client"] ?? .null]),
      ("session.closed", ["session": session]),
    ]
    var iterator = events.makeAsyncIterator()
    for (topic, data) in expected {
      #expect(
        try await iterator.next()
          == BridgeEvent(topic: topic, data: data, at: InMemoryBridge.startTime))
    }
  }

  @Test func eventsHideTheURIsThatThePolicyHides() async throws {
    for name in ["open", "secret"] {
      try router.page("native://\(name)")
      try router.task("action://\(name)") { _ in 1 }
    }
    let bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([
        Policy.Rule("all", .allow, ["*"]),
        Policy.Rule(
          "secrets", .deny, ["*"], subjects: ["other"],
          routes: ["native://secret", "action://secret"]),
      ]))
    let (shell, opened) = try await WireClient.open(
      bridge, ["token": "shell", "hosts": [["scheme": "native", "kind": "page"]]])
    let (other, _) = try await WireClient.open(bridge, ["token": "other"], joining: opened)
    for client in [shell, other] {
      let status = try await client.callStatus(
        "events.subscribe", ["topics": ["page.opened", "task.finished", "route.failed"]])
      #expect(status == "ok")
    }
    for (name, isHidden) in [("open", false), ("secret", true)] {
      for (method, uri) in [
        ("navigation.adopt", "native://\(name)"), ("router.invoke", "action://\(name)"),
      ] {
        _ = try await shell.callStatus(method, ["uri": .string(uri)])
        let event = try await other.nextEvent()
        #expect(event["data"]?["uri"] == (isHidden ? nil : .string(uri)), "\(uri)")
        #expect(event["data"]?["session"] == opened["session"])
      }
    }
  }

  @Test func failsStreamOfSlowReader() async throws {
    let bridge = InMemoryBridge(router)
    let events = try await bridge.sessionServer.events(["*"], limit: 2)
    let (client, opened) = try await WireClient.open(bridge)
    for _ in 0..<2 { _ = try await WireClient.open(bridge, joining: opened) }
    var iterator = events.makeAsyncIterator()
    #expect(try await iterator.next()?.topic == "session.opened")
    #expect(try await iterator.next()?.topic == "session.joined")
    let error = await #expect(throws: CallError.self) { _ = try await iterator.next() }
    #expect(error?.code == 2429)
    _ = client
  }

  @Test func unsubscribesReleasedStream() async throws {
    let bridge = InMemoryBridge(router)
    do {
      let events = try await bridge.sessionServer.events(["*"], limit: 2)
      #expect(await bridge.loopSessions.appKinds == [.session, .page, .task, .route, .visibility])
      _ = events
    }
    while await bridge.loopSessions.appKinds != [] { await Task.yield() }
  }

  @Test func unsubscribesClientThatLeaves() async throws {
    let bridge = InMemoryBridge(router)
    let (_, opened) = try await WireClient.open(bridge)
    let session = try #require(opened["session"]?.string)
    let (guest, _) = try await WireClient.open(bridge, joining: opened)
    try await guest.subscribe("page.*", "own")
    #expect(await bridge.loopSessions.subscribedKinds(in: session) == [.page, .visibility])
    try await guest.close()
    _ = try? await guest.nextMessage()
    #expect(await bridge.loopSessions.subscribedKinds(in: session) == [])
  }

  @Test func reportsUnresolvedCallOfTask() async throws {
    try router.task("action://lost") { call in
      try await call.navigator.invoke("action://nowhere")
    }
    let bridge = InMemoryBridge(router)
    let (client, opened) = try await WireClient.open(bridge)
    try await client.subscribe("route.failed")
    try await client.call(1, "router.invoke", ["uri": "action://lost"])
    #expect(
      try await client.nextEvent()["data"]
        == [
          "session": opened["session"] ?? .null, "uri": "action://nowhere", "code": 2404,
          "kind": "noRoute",
        ])
  }

  @Test(arguments: ["action://now", "action://later", "action://outer"])
  func failedTaskIsNoRouteFailure(uri: String) async throws {
    try router.task("action://now") { _ in throw CallError(code: 7, message: "no") }
    try router.task("action://later") { _ async throws in throw CallError(code: 7, message: "no") }
    try router.task("action://outer") { call in try await call.navigator.invoke("action://now") }
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(bridge)
    try await client.subscribe("route.failed", "task.failed")
    try await client.call(1, "router.invoke", ["uri": .string(uri)])
    var topics: [Value?] = []
    while case let message = try await client.nextMessage(), message["id"] != 1 {
      topics.append(message["params"]?["topic"])
    }
    let count = uri == "action://outer" ? 2 : 1
    #expect(topics == Array(repeating: "task.failed", count: count))
  }

  @Test func cancelledTaskThatDeclinesEndsOnce() async throws {
    try router.task("action://waits") { _ async throws in
      do { try await Task.sleep(for: .seconds(3600)) } catch { throw Declined() }
      return nil
    }
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(bridge)
    try await client.subscribe("task.*")
    try await client.call(1, "router.invoke", ["uri": "action://waits"])
    #expect(try await client.nextEvent()["topic"] == "task.started")
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.nextEvent()["data"]?["code"] == -32800)
    #expect(try await client.nextMessage()["error"]?["code"] == -32800)
    while await bridge.sessionServer.totals().callsInFlight > 0 { await Task.yield() }
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func queuedOpenDoesNotStartAfterSessionEnds() async throws {
    let shown = Mailbox<String>()
    let proceed = Mailbox<Bool>()
    try router.page("native://a")
    try router.page(
      "sdk:p", PageHandler(open: { page, _ in shown.put(page.id) }, close: { _, _, _ in }))
    try router.task("action://go") { call in
      async let first = call.navigator.open("native://a")
      _ = try await proceed.receive()
      let second = try await call.navigator.open("sdk:p")
      _ = try await first
      return second.data
    }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge, hosting: ["native"])
    try await client.notify("router.invoke", ["uri": "action://go"])
    _ = try await client.nextRequest("page.open")
    proceed.put(true)
    while await bridge.sessionServer.totals().callsInFlight < 3 { await Task.yield() }
    try await client.close()
    _ = try? await client.nextMessage()
    while await bridge.sessionServer.totals() != SessionTotals() { await Task.yield() }
    shown.put("nothing")
    #expect(try await shown.receive() == "nothing")
  }

  @Test func rejectsUnsupportedVersionBeforeOtherParams() async throws {
    let client = try await WireClient.connect(
      to: InMemoryBridge(router), subprotocol: Handshake.sessionSubprotocol)
    try await client.call(1, "session.open", ["protocol": ["2.0"], "token": ["bearer": "x"]])
    #expect(try await client.response(1)["error"]?["data"]?["kind"] == "version")
  }

  @Test func removesClosedSession() async throws {
    let bridge = InMemoryBridge(router)
    let stuck = StalledChannel(to: bridge)
    for (method, count) in [("$/ping", 1), ("session.close", 0)] {
      try await stuck.deliver(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#)
      #expect(await bridge.sessionServer.dispatch.sessions(.all).count == count)
    }
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }

  @Test func streamEndsOnShutdown() async throws {
    let bridge = InMemoryBridge(router)
    let events = try await bridge.sessionServer.events(["*"], limit: 2)
    await bridge.sessionServer.closeEventStreams()
    var iterator = events.makeAsyncIterator()
    #expect(try await iterator.next() == nil)
  }

  @Test(arguments: [(["a b"], 1), ([""], 1), (["*"], 0)])
  func rejectsInvalidTopics(topics: [String], limit: Int) async {
    let error = await #expect(throws: CallError.self) {
      try await InMemoryBridge(router).sessionServer.events(topics, limit: limit)
    }
    #expect(error?.code == -32602)
  }

  @Test func documentsEveryTopic() throws {
    let text = try ProjectFiles.text("protocol/PROTOCOL.md")
    for topic in SystemTopic.allCases { #expect(text.contains("| `\(topic.rawValue)` |")) }
  }
}

extension LoopSessions {
  fileprivate var appKinds: SessionEvent.EventKinds { observedKinds.app }

  fileprivate func subscribedKinds(in session: String) -> SessionEvent.EventKinds? {
    sessions[session]?.assumeIsolated { $0.events.subscribers.kinds }
  }
}

import TestSupport
import Testing
import Waybridge

/// Calls that an app makes in its sessions on its own initiative, over sockets.
@Suite(.timeLimit(.minutes(1)))
struct BridgeServerPushTests {
  private let router = Router()

  private func startServer() async throws -> BridgeServerFixture {
    try router.page("native://offer/:id")
    let configuration = BridgeConfiguration(
      port: 0,
      identify: { handshake in
        guard let token = handshake.token else { throw CallError(code: 1, message: "who are you?") }
        return Identity(user: token, groups: ["all"])
      })
    return try await BridgeServerFixture(router, configuration)
  }

  private func connectHost(_ served: BridgeServerFixture, _ user: Value) async throws -> (
    RawClient, String
  ) {
    let peer = try await RawClient.connect(to: served, subprotocol: "waybridge.v1")
    let opened = try await peer.request(
      "session.open", ["token": user, "hosts": [["scheme": "native", "kind": "page"]]])
    return (peer, try #require(opened["session"]?.string))
  }

  @Test func opensAPageForAUserAndReturnsTheOutcome() async throws {
    let served = try await startServer()
    let server = served.server
    let (anna, _) = try await connectHost(served, "anna")
    let (ben, session) = try await connectHost(served, "ben")
    let opening = Task { try await server.open("native://offer/7", in: .user("ben")) }
    let request = try await ben.nextMessage()
    let page = request["params"]?["page"]?["id"] ?? .null
    try await ben.respond(request, .null)
    let deliveries = try await opening.value
    #expect(deliveries.map(\.session) == [session])
    let shown = try #require(try deliveries.first?.result.get())
    #expect(shown.page.map(Value.string) == page)
    let title = Task {
      try await server.call(page: shown.page ?? "", in: session, "title", ["short": true])
    }
    let call = try await ben.nextMessage()
    #expect(call["method"] == "page.call")
    try await ben.respond(call, "Offer")
    #expect(try await title.value == "Offer")
    _ = try await ben.request("navigation.finish", ["page": page, "result": ["data": 3]])
    #expect(try await shown.outcome() == .finished(data: 3))
    #expect(try await anna.request("navigation.stack", [:]) == ["pages": []])
    await served.stop()
  }

  @Test func callsMethodsAndPublishesEventsInAGroup() async throws {
    let served = try await startServer()
    let server = served.server
    let (anna, session) = try await connectHost(served, "anna")
    try await server.remove(session: session, fromGroup: "all")
    let (ben, _) = try await connectHost(served, "ben")
    try await server.publish("news", "old", to: .group("all"), retain: 1)
    for peer in [anna, ben] { _ = try await peer.request("events.subscribe", ["topics": ["news"]]) }
    #expect(try await ben.nextMessage()["params"]?["data"] == "old")
    let calls = Task { try await server.call("app.sync", ["n": 1], of: .group("all")) }
    let request = try await ben.nextMessage()
    #expect(request["method"] == "app.sync")
    #expect(request["params"] == ["n": 1])
    try await ben.respond(request, true)
    #expect(try await calls.value.map(\.result) == [.success(true)])
    try await server.add(session: session, toGroup: "all")
    try await server.publish("news", "new", to: .group("all"))
    for peer in [anna, ben] {
      let event = try await peer.nextMessage()["params"]
      #expect(event?["data"] == "new")
      // The wall clock, later than the date of this test and far from overflow.
      #expect((event?["at"]?.integer ?? 0) > 1_700_000_000_000)
      #expect((event?["at"]?.integer ?? 0) < 4_000_000_000_000)
    }
    try await server.clearRetained("news", for: .group("all"))
    let (carl, _) = try await connectHost(served, "carl")
    _ = try await carl.request("events.subscribe", ["topics": ["news"]])
    try await server.publish("news", "last")
    #expect(try await carl.nextMessage()["params"]?["data"] == "last")
    await served.stop()
  }

  @Test func stoppingSettlesPendingCallsAndPages() async throws {
    let served = try await startServer()
    let server = served.server
    let (anna, _) = try await connectHost(served, "anna")
    let events = try await server.events(["session.closed"])
    let calls = Task { try await server.call("app.wait", of: .all, timeout: .seconds(60)) }
    let opening = Task { try await server.open("native://offer/1", in: .all) }
    let requests = [try await anna.nextMessage(), try await anna.nextMessage()]
    try await anna.respond(try #require(requests.first { $0["method"] == "page.open" }), .null)
    let shown = try #require(try await opening.value.first?.result.get())
    await served.stop()
    guard case .failure(let error)? = try await calls.value.first?.result else {
      return #expect(Bool(false), "it has a value")
    }
    #expect(error.code == 2504)
    #expect(try await shown.outcome().kind == .failed)
    var closed = events.makeAsyncIterator()
    #expect(try await closed.next()?.topic == "session.closed")
    #expect(try await closed.next() == nil)
  }

  @Test func rejectsCallsWhenTheServerIsNotRunning() async throws {
    let idle = BridgeServer(router: router, configuration: BridgeConfiguration(port: 0))
    let served = try await startServer()
    let again = await #expect(throws: CallError.self) { try await served.server.run() }
    #expect(again?.code == 2409)
    #expect(try await served.server.sessions().isEmpty)
    await served.stop()
    for server in [idle, served.server] {
      let error = await #expect(throws: CallError.self) { try await server.publish("news") }
      #expect(error?.code == 2503)
      #expect(error?.message.contains("is not running") == true)
    }
  }
}

import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Calls that the app makes in sessions on its own initiative.
@Suite(.timeLimit(.minutes(1)))
struct PushTests {
  private let bridge: InMemoryBridge

  init() throws {
    bridge = try .withOffers()
  }

  private func open(
    _ user: Value, joining: Value? = nil
  ) async throws -> (client: WireClient, session: String, name: String, opened: Value) {
    let members: ValueObject = [
      "token": user, "hosts": joining == nil ? [["scheme": "native", "kind": "page"]] : [],
    ]
    let (client, opened) = try await WireClient.open(bridge, members, joining: joining)
    return (
      client, try #require(opened["session"]?.string), try #require(opened["client"]?.string),
      opened
    )
  }

  private func call(
    _ audience: Audience, timeout: Duration = .seconds(10)
  ) -> Task<[Delivery<Value>], any Error> {
    let dispatch = bridge.sessionServer.dispatch
    return Task {
      try await dispatch.call("app.refresh", ["n": 1], of: audience, timeout: timeout)
    }
  }

  @Test func callsEveryClientAndReturnsResponses() async throws {
    let anna = try await open("anna")
    let guest = try await open("anna", joining: anna.opened)
    let ben = try await open("ben")
    let calls = call(.all)
    for (client, response) in [(anna.client, 1), (guest.client, 2)] as [(WireClient, Value)] {
      let request = try await client.nextMessage()
      #expect(request["method"] == "app.refresh")
      #expect(request["params"] == ["n": 1])
      try await client.respond(request, response)
    }
    try await ben.client.reject(try await ben.client.nextMessage(), -32601, "no such method")
    var results: [String: Result<Value, CallError>] = [:]
    for delivery in try await calls.value { results[delivery.client ?? ""] = delivery.result }
    #expect(results.count == 3)
    #expect(results[anna.name] == .success(1))
    #expect(results[guest.name] == .success(2))
    #expect(
      results[ben.name] == .failure(CallError(code: -32601, message: "no such method")))
  }

  @Test func callsOnlyTheAudience() async throws {
    let anna = try await open("anna")
    let ben = try await open("ben")
    let guest = try await open("ben", joining: ben.opened)
    try await bridge.sessionServer.dispatch.add(session: ben.session, toGroup: "beta")
    let audiences: [(Audience, [WireClient])] = [
      (.user("anna"), [anna.client]), (.session(ben.session), [ben.client, guest.client]),
      (.group("beta"), [ben.client, guest.client]),
      (.client(guest.name, session: ben.session), [guest.client]),
      (.client(guest.name, session: anna.session), []), (.user("carl"), []),
    ]
    for (audience, clients) in audiences {
      let calls = call(audience)
      for client in clients { try await client.respond(try await client.nextMessage(), 1) }
      #expect(try await calls.value.map(\.result) == clients.map { _ in .success(1) })
      for client in [anna.client, ben.client, guest.client] {
        #expect(try await client.hasNoPendingMessages(), "\(audience)")
      }
    }
    try await bridge.sessionServer.dispatch.remove(session: ben.session, fromGroup: "beta")
    #expect(try await call(.group("beta")).value.isEmpty)
    await #expect(throws: CallError.self) {
      try await bridge.sessionServer.dispatch.add(session: "s-none", toGroup: "beta")
    }
  }

  @Test(arguments: [
    "", "event", "page.open", "task.run", "$/ping", "session.x", "rpc.discover", "events.x",
  ])
  func rejectsReservedMethodNames(method: String) async throws {
    let anna = try await open("anna")
    let error = await #expect(throws: CallError.self) {
      try await bridge.sessionServer.dispatch.call(
        method, [:], of: .all, timeout: .seconds(1))
    }
    #expect(error?.code == -32602)
    #expect(try await anna.client.hasNoPendingMessages())
  }

  @Test func failsForSilentAndDisconnectedClients() async throws {
    let anna = try await open("anna")
    let ben = try await open("ben")
    let calls = call(.all, timeout: .seconds(3))
    let request = try await anna.client.nextMessage()
    _ = try await ben.client.nextMessage()
    try await ben.client.close()
    await bridge.server.loop.advance(by: .seconds(3))
    let cancel = try await anna.client.nextMessage()
    #expect(cancel["method"] == "$/cancelRequest")
    #expect(cancel["params"] == ["id": request["id"] ?? .null])
    let codes = try await calls.value.map { delivery in
      if case .failure(let error) = delivery.result { error.code } else { 0 }
    }
    #expect(codes == [2504, 2504])
  }

  @Test func cancellingTaskCancelsRequests() async throws {
    let anna = try await open("anna")
    let calls = call(.all)
    let request = try await anna.client.nextMessage()
    calls.cancel()
    #expect(try await anna.client.nextMessage()["params"] == ["id": request["id"] ?? .null])
    guard case .failure(let error)? = try await calls.value.first?.result else {
      return #expect(Bool(false), "the call has not failed")
    }
    #expect(error.code == -32800)
  }

  @Test func listsPagesOfInactiveTabs() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    for tab in [1, 0] {
      try await shell.call(
        .integer(Int64(tab)), "navigation.selectTab", ["index": .integer(Int64(tab))])
      try await shell.respond(try await shell.nextRequest("page.open"), .null)
      _ = try await shell.response(.integer(Int64(tab)))
    }
    let pages = await bridge.sessionServer.dispatch.sessions(.all).first?.pages
    #expect(pages?.map(\.uri) == ["native://discover", "native://home"])
  }

  @Test func listsSessionDetails() async throws {
    let (shell, opened) = try await WireClient.open(
      bridge,
      [
        "token": "anna", "client": ["name": "shell", "version": "1.2", "platform": "linux"],
        "hosts": [["scheme": "native", "kind": "page"]],
      ])
    let session = try #require(opened["session"]?.string)
    try await shell.call(1, "navigation.adopt", ["uri": "native://offer/7"])
    let page = try await shell.response(1)["result"]?["id"]
    let (_, guestOpened) = try await WireClient.open(
      bridge, ["page": page ?? .null], joining: opened)
    try await bridge.sessionServer.dispatch.add(session: session, toGroup: "beta")
    let sessions = await bridge.sessionServer.dispatch.sessions(.user("anna"))
    let info = try #require(sessions.first)
    #expect(sessions.count == 1)
    #expect(info.id == session)
    #expect(info.identity == Identity(user: "anna", groups: ["beta"]))
    #expect(info.pages.map(\.uri) == ["native://offer/7"])
    #expect(
      info.clients == [
        ClientInfo(
          id: opened["client"]?.string ?? "", name: "shell", version: "1.2", platform: "linux",
          page: nil),
        ClientInfo(
          id: guestOpened["client"]?.string ?? "", name: nil, version: nil, platform: nil,
          page: page?.string),
      ])
    #expect(await bridge.sessionServer.dispatch.sessions(.user("ben")).isEmpty)
  }
}

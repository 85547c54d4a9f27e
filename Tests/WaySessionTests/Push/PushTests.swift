import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// What the app's side does in sessions unasked.
@Suite(.timeLimit(.minutes(1)))
struct PushTests {
  private let bridge: InMemoryBridge

  init() throws {
    bridge = try .offers()
  }

  private func open(
    _ user: Value, joining: Value? = nil
  ) async throws -> (client: WireClient, session: String, name: String, hello: Value) {
    let members: ValueObject = [
      "token": user, "hosts": joining == nil ? [["scheme": "native", "kind": "page"]] : [],
    ]
    let (client, hello) = try await WireClient.open(bridge, members, joining: joining)
    return (
      client, try #require(hello["session"]?.string), try #require(hello["client"]?.string), hello
    )
  }

  private func call(
    _ audience: Audience, timeout: Duration = .seconds(10)
  ) -> Task<[Delivery<Value>], any Error> {
    let bridge = bridge.hub
    return Task {
      try await bridge.call("app.refresh", ["n": 1], of: audience, timeout: timeout)
    }
  }

  @Test func everyClientOfTheAudienceIsCalledAndItsAnswerTold() async throws {
    let anna = try await open("anna")
    let guest = try await open("anna", joining: anna.hello)
    let ben = try await open("ben")
    let calls = call(.all)
    for (client, answer) in [(anna.client, 1), (guest.client, 2)] as [(WireClient, Value)] {
      let asked = try await client.message()
      #expect(asked["method"] == "app.refresh")
      #expect(asked["params"] == ["n": 1])
      try await client.reply(asked, answer)
    }
    try await ben.client.refuse(try await ben.client.message(), -32601, "no such method")
    var results: [String: Result<Value, CallError>] = [:]
    for delivery in try await calls.value { results[delivery.client ?? ""] = delivery.result }
    #expect(results.count == 3)
    #expect(results[anna.name] == .success(1))
    #expect(results[guest.name] == .success(2))
    #expect(
      results[ben.name] == .failure(CallError(code: -32601, message: "no such method")))
  }

  @Test func onlyTheAudienceIsCalled() async throws {
    let anna = try await open("anna")
    let ben = try await open("ben")
    let guest = try await open("ben", joining: ben.hello)
    try await bridge.hub.allServers.add(session: ben.session, toGroup: "beta")
    let audiences: [(Audience, [WireClient])] = [
      (.user("anna"), [anna.client]), (.session(ben.session), [ben.client, guest.client]),
      (.group("beta"), [ben.client, guest.client]),
      (.client(guest.name, session: ben.session), [guest.client]),
      (.client(guest.name, session: anna.session), []), (.user("carl"), []),
    ]
    for (audience, clients) in audiences {
      let calls = call(audience)
      for client in clients { try await client.reply(try await client.message(), 1) }
      #expect(try await calls.value.map(\.result) == clients.map { _ in .success(1) })
      for client in [anna.client, ben.client, guest.client] {
        #expect(try await client.hasHeardNothing(), "\(audience)")
      }
    }
    try await bridge.hub.allServers.remove(session: ben.session, fromGroup: "beta")
    #expect(try await call(.group("beta")).value.isEmpty)
    await #expect(throws: CallError.self) {
      try await bridge.hub.allServers.add(session: "s-none", toGroup: "beta")
    }
  }

  @Test(arguments: [
    "", "event", "page.open", "task.run", "$/ping", "session.x", "rpc.discover", "events.x",
  ])
  func theProtocolsOwnMethodsAreNotTheApps(method: String) async throws {
    let anna = try await open("anna")
    let error = await #expect(throws: CallError.self) {
      try await bridge.hub.allServers.call(method, [:], of: .all, timeout: .seconds(1))
    }
    #expect(error?.code == -32602)
    #expect(try await anna.client.hasHeardNothing())
  }

  @Test func aClientThatIsSilentOrLeavesIs2504() async throws {
    let anna = try await open("anna")
    let ben = try await open("ben")
    let calls = call(.all, timeout: .seconds(3))
    let asked = try await anna.client.message()
    _ = try await ben.client.message()
    try await ben.client.close()
    await bridge.server.loop.advance(by: .seconds(3))
    let cancel = try await anna.client.message()
    #expect(cancel["method"] == "$/cancelRequest")
    #expect(cancel["params"] == ["id": asked["id"] ?? .null])
    let codes = try await calls.value.map { delivery in
      if case .failure(let error) = delivery.result { error.code } else { 0 }
    }
    #expect(codes == [2504, 2504])
  }

  @Test func cancellingTheTaskTakesTheCallsBack() async throws {
    let anna = try await open("anna")
    let calls = call(.all)
    let asked = try await anna.client.message()
    calls.cancel()
    #expect(try await anna.client.message()["params"] == ["id": asked["id"] ?? .null])
    guard case .failure(let error)? = try await calls.value.first?.result else {
      return #expect(Bool(false), "the call has not failed")
    }
    #expect(error.code == -32800)
  }

  @Test func thePagesOfTabsThatWaitAreListedToo() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    for tab in [1, 0] {
      try await shell.call(
        .integer(Int64(tab)), "navigation.selectTab", ["index": .integer(Int64(tab))])
      try await shell.reply(try await shell.request("page.open"), .null)
      _ = try await shell.answer(.integer(Int64(tab)))
    }
    let pages = await bridge.hub.allServers.sessions(.all).first?.pages
    #expect(pages?.map(\.uri) == ["native://discover", "native://home"])
  }

  @Test func theSessionsAreListedAsTheyAre() async throws {
    let (shell, hello) = try await WireClient.open(
      bridge,
      [
        "token": "anna", "client": ["name": "shell", "version": "1.2", "platform": "linux"],
        "hosts": [["scheme": "native", "kind": "page"]],
      ])
    let session = try #require(hello["session"]?.string)
    try await shell.call(1, "navigation.adopt", ["uri": "native://offer/7"])
    let page = try await shell.answer(1)["result"]?["id"]
    let (_, guestHello) = try await WireClient.open(
      bridge, ["page": page ?? .null], joining: hello)
    try await bridge.hub.allServers.add(session: session, toGroup: "beta")
    let sessions = await bridge.hub.allServers.sessions(.user("anna"))
    let info = try #require(sessions.first)
    #expect(sessions.count == 1)
    #expect(info.id == session)
    #expect(info.identity == Identity(user: "anna", groups: ["beta"]))
    #expect(info.pages.map(\.uri) == ["native://offer/7"])
    #expect(
      info.clients == [
        ClientInfo(
          id: hello["client"]?.string ?? "", name: "shell", version: "1.2", platform: "linux",
          page: nil),
        ClientInfo(
          id: guestHello["client"]?.string ?? "", name: nil, version: nil, platform: nil,
          page: page?.string),
      ])
    #expect(await bridge.hub.allServers.sessions(.user("ben")).isEmpty)
  }
}

import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// `session.end` and `client.disconnect`.
@Suite(.timeLimit(.minutes(1)))
struct SessionRevocationTests {
  /// An administrator, and a session of the user ada with two clients.
  private struct RevocationFixture {
    let bridge: InMemoryBridge
    let admin: WireClient
    let adminOpened: Value
    let shell: WireClient
    let opened: Value
    let member: WireClient
    let memberOpened: Value

    var session: Value { opened["session"] ?? .null }

    init() async throws {
      bridge = InMemoryBridge(
        Router(), identify: { Identity(user: $0.token ?? "nobody") },
        rules: try CompiledPolicy([
          Policy.Rule("operator", .allow, ["*"], subjects: ["operator"]),
          Policy.Rule("users", .allow, ["router.*", "navigation.*", "host.*", "events.*"]),
        ]))
      (admin, adminOpened) = try await WireClient.open(bridge, from: Handshake(token: "operator"))
      (shell, opened) = try await WireClient.open(
        bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: "ada"))
      (member, memberOpened) = try await WireClient.open(bridge, joining: opened)
    }

    func joinWithInvitation(of inviter: WireClient, uses: Int) async throws -> (
      guest: WireClient, opened: Value, joining: Value
    ) {
      let invitation = try await inviter.request("session.invite", ["uses": .integer(Int64(uses))])
      let joining: Value = [
        "session": session, "invitation": invitation["result"]?["token"] ?? .null,
      ]
      let (guest, opened) = try await WireClient.open(bridge, joining: joining)
      return (guest, opened, joining)
    }

    func disconnect(_ client: Value?) async throws -> Value {
      try await admin.request(
        "client.disconnect", ["session": session, "client": client ?? .null])
    }
  }

  @Test func endedSessionAcceptsNoClient() async throws {
    let fixture = try await RevocationFixture()
    let guest = try await fixture.joinWithInvitation(of: fixture.shell, uses: 2)
    let ended = try await fixture.admin.request("session.end", ["session": fixture.session])
    let names = [fixture.opened, fixture.memberOpened, guest.opened].map { $0["client"] ?? .null }
    #expect(ended["result"]?["clients"] == .array(names))
    for client in [fixture.shell, fixture.member, guest.guest] {
      #expect(try await client.nextCloseCode() == CloseCode.forbidden.rawValue)
    }
    for joining in [fixture.opened, guest.joining] {
      #expect(try await WireClient.open(fixture.bridge, joining: joining).opened == .null)
    }
    let again = try await fixture.admin.request("session.end", ["session": fixture.session])
    #expect(again["error"]?["data"]?["kind"] == "noSession")
    #expect(await fixture.bridge.sessionServer.totals().sessions == 1)
  }

  @Test func guestsOfDisconnectedClientLeave() async throws {
    let fixture = try await RevocationFixture()
    let guest = try await fixture.joinWithInvitation(of: fixture.member, uses: 2)
    let other = try await fixture.joinWithInvitation(of: fixture.shell, uses: 1)
    let removed = try await fixture.disconnect(fixture.memberOpened["client"])
    let names = [fixture.memberOpened, guest.opened].map { $0["client"] ?? .null }
    #expect(removed["result"]?["clients"] == .array(names))
    for client in [fixture.member, guest.guest] {
      #expect(try await client.nextCloseCode() == CloseCode.forbidden.rawValue)
    }
    #expect(try await WireClient.open(fixture.bridge, joining: guest.joining).opened == .null)
    #expect(try await other.guest.callStatus("navigation.stack") == "ok")
    #expect(try await fixture.shell.callStatus("navigation.stack") == "ok")
    // The removed client knew the session's join token.
    #expect(try await WireClient.open(fixture.bridge, joining: fixture.opened).opened == .null)
  }

  @Test func disconnectedGuestCannotJoinAgain() async throws {
    let fixture = try await RevocationFixture()
    let guest = try await fixture.joinWithInvitation(of: fixture.shell, uses: 5)
    let removed = try await fixture.disconnect(guest.opened["client"])
    #expect(removed["result"]?["clients"] == [guest.opened["client"] ?? .null])
    #expect(try await guest.guest.nextCloseCode() == CloseCode.forbidden.rawValue)
    #expect(try await WireClient.open(fixture.bridge, joining: guest.joining).opened == .null)
  }

  @Test func disconnectedGuestCannotReplaceAnotherGuest() async throws {
    let fixture = try await RevocationFixture()
    let first = try await fixture.joinWithInvitation(of: fixture.shell, uses: 5)
    let second = try await WireClient.open(fixture.bridge, joining: first.joining)
    _ = try await fixture.disconnect(first.opened["client"])
    // The other guest has lost its connection, and may return to its own place.
    try await second.client.close(CloseCode(rawValue: 1001))
    await fixture.bridge.server.loop.settle()
    #expect(try await WireClient.open(fixture.bridge, joining: first.joining).opened == .null)
    let session = try await fixture.admin.request("admin.session", ["session": fixture.session])
    #expect(session["result"]?["clients"]?.array?.count == 3)
  }

  @Test func waitingLinkOfDisconnectedClientFails() async throws {
    let fixture = try await RevocationFixture()
    // A session without a host, in which links wait.
    let (shell, opened) = try await WireClient.open(fixture.bridge, from: Handshake(token: "ben"))
    let sender = try await WireClient.open(fixture.bridge, joining: opened)
    #expect(try await sender.client.callStatus("router.deliver", ["uri": "later://page"]) == "ok")
    try await shell.subscribe("route.failed")
    let params: Value = [
      "session": opened["session"] ?? .null, "client": sender.opened["client"] ?? .null,
    ]
    #expect(try await fixture.admin.callStatus("client.disconnect", params) == "ok")
    try await shell.call(
      "host", "host.register", ["hosts": [["scheme": "later", "kind": "page"]]])
    let event = try await shell.nextRequest("event")
    #expect(event["params"]?["topic"] == "route.failed")
  }

  @Test func endedSessionStartsNoQueuedOpening() async throws {
    let fixture = try await RevocationFixture()
    try await fixture.shell.call("first", "router.open", ["uri": "native://first"])
    _ = try await fixture.shell.nextRequest("page.open")
    try await fixture.member.call("second", "router.open", ["uri": "native://second"])
    _ = try await fixture.admin.request("session.end", ["session": fixture.session])
    #expect(try await fixture.shell.nextCloseCode() == CloseCode.forbidden.rawValue)
  }

  @Test func pagesOfDisconnectedHostFail() async throws {
    let fixture = try await RevocationFixture()
    try await fixture.member.call("open", "router.open", ["uri": "native://page"])
    _ = try await fixture.shell.acceptPageOpen()
    #expect(try await fixture.member.nextMessage()["method"] == "$/progress")
    _ = try await fixture.disconnect(fixture.opened["client"])
    #expect(try await fixture.member.response("open")["result"]?["outcome"] == "failed")
  }

  @Test func rejectsInvalidRequests() async throws {
    let fixture = try await RevocationFixture()
    let own = fixture.adminOpened["session"] ?? .null
    let cases: [(String, ValueObject, Value, Value?)] = [
      ("session.end", [:], -32602, nil),
      ("session.end", ["session": own], -32602, nil),
      ("session.end", ["session": "s-none"], 2404, "noSession"),
      ("client.disconnect", ["session": fixture.session], -32602, nil),
      (
        "client.disconnect", ["session": own, "client": fixture.adminOpened["client"] ?? .null],
        -32602, nil
      ),
      ("client.disconnect", ["session": "s-none", "client": "c-1"], 2404, "noSession"),
      ("client.disconnect", ["session": fixture.session, "client": "c-none"], 2404, "noClient"),
    ]
    for (method, params, code, kind) in cases {
      let error = try await fixture.admin.request(method, .object(params))["error"]
      #expect(error?["code"] == code, "\(method) \(params)")
      if let kind { #expect(error?["data"]?["kind"] == kind, "\(method) \(params)") }
    }
    let denied = try await fixture.shell.request("session.end", ["session": own])
    #expect(denied["error"]?["code"] == 2403)
    #expect(try await fixture.shell.callStatus("navigation.stack") == "ok")
  }
}

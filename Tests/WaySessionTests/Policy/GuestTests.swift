import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The permissions table of PROTOCOL.md, with a test for each cell.
@Suite(.timeLimit(.minutes(1)))
struct GuestTests {
  /// A session whose first client hosts the pages of `native`. It has two pages: `secret`, and
  /// above it `own`, in which a guest runs.
  private struct GuestFixture {
    let bridge: InMemoryBridge
    let shell: WireClient
    let openResult: Value
    let secretPage: Value
    let ownPage: Value

    init(identify: IdentityResolver? = nil, from handshake: Handshake = Handshake()) async throws {
      let router = Router()
      try router.task("action://add") { call in .bool(call.caller.isGuest) }
      try router.task("action://other") { _ in 1 }
      bridge = InMemoryBridge(router, identify: identify)
      (shell, openResult) = try await WireClient.open(
        bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: handshake)
      secretPage = try await Self.adopt("native://secret?pin=1234", shell)
      ownPage = try await Self.adopt("native://own?n=1", shell)
    }

    private static func adopt(_ uri: Value, _ shell: WireClient) async throws -> Value {
      try await shell.request("navigation.adopt", ["uri": uri])["result"]?["id"] ?? .null
    }

    func invite(_ params: ValueObject = [:]) async throws -> Value {
      let invitation = try await shell.request("session.invite", .object(params))["result"] ?? .null
      return [
        "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
      ]
    }

    func openGuest(
      _ invitation: ValueObject = [:], _ members: ValueObject = [:]
    ) async throws -> (client: WireClient, opened: Value) {
      try await WireClient.open(bridge, members, joining: try await invite(invitation))
    }

    /// Opens a client of a role that runs in the page `own`.
    func openClient(_ role: String) async throws -> WireClient {
      switch role {
      case "first": return shell
      case "member":
        return try await WireClient.open(
          bridge, ["page": ownPage], joining: openResult
        ).client
      default: return try await openGuest(["page": ownPage]).client
      }
    }
  }

  @Test(
    arguments: [
      ("router.invoke", ["uri": "action://add"], "ok", "ok"),
      ("router.canOpen", ["uri": "action://add"], "ok", "ok"),
      ("router.explain", ["uri": "action://add"], "ok", "ok"),
      ("router.routes", [:], "ok", "ok"),
      ("router.deliver", ["uri": "action://add"], "ok", "ok"),
      ("navigation.stack", [:], "ok", "ok"),
      ("navigation.contains", ["uri": "native://secret"], "ok", "ok"),
      ("navigation.finish", ["page": "$own"], "ok", "ok"),
      ("navigation.finish", ["page": "$secret"], "ok", "invitation"),
      ("navigation.back", ["root": true], "ok", "ok"),
      ("navigation.back", ["before": "$secret"], "-", "-"),
      ("navigation.edit", ["remove": ["page": "native://own"]], "ok", "ok"),
      ("navigation.edit", ["remove": ["page": "native://secret"]], "ok", "invitation"),
      ("navigation.edit", ["remove": ["from": "native://secret"]], "2409", "2409"),
      ("navigation.adopt", ["uri": "native://new"], "ok", "invitation"),
      ("navigation.selectTab", ["index": 0], "2404", "invitation"),
      ("router.invoke", ["uri": "navigation:selectTab?index=0"], "2404", "invitation"),
      ("page.call", ["page": "$secret", "method": "x"], "-", "invitation"),
      ("host.register", ["hosts": [["scheme": "native", "kind": "page"]]], "ok", "invitation"),
      ("host.register", ["hosts": [["patterns": ["/a"], "kind": "page"]]], "ok", "invitation"),
      ("events.subscribe", ["topics": ["*"]], "ok", "ok"),
      ("events.publish", ["topic": "cart.changed"], "2404", "invitation"),
      ("session.invite", [:], "ok", "invitation"),
      ("session.list", [:], "default", "invitation"),
      ("$/ping", [:], "ok", "ok"),
    ] as [(String, Value, String, String)],
    ["first", "member", "guest"])
  func appliesPermissionTablePerRole(
    row: (method: String, params: Value, member: String, guest: String), role: String
  ) async throws {
    let expected = role == "guest" ? row.guest : row.member
    guard expected != "-" else { return }
    let fixture = try await GuestFixture()
    let client = try await fixture.openClient(role)
    let params = row.params.object?.members.map { member in
      switch member.value {
      case "$own": (member.name, fixture.ownPage)
      case "$secret": (member.name, fixture.secretPage)
      default: (member.name, member.value)
      }
    }
    let verdict = try await client.callStatus(row.method, .object(ValueObject(params ?? [])))
    #expect(verdict == expected, "\(row.method)")
  }

  @Test func guestCannotInspectOtherPages() async throws {
    let fixture = try await GuestFixture()
    let (guest, opened) = try await fixture.openGuest(["page": fixture.ownPage])
    #expect(opened["joinToken"] == nil)
    #expect(opened["guest"] == true)
    #expect(opened["page"] == fixture.ownPage)
    let pages = try await guest.request("navigation.stack")["result"]?["pages"]?.array ?? []
    #expect(pages.count == 2)
    #expect(pages.first?["id"] == fixture.secretPage)
    for name in ["uri", "params", "host"] { #expect(pages.first?[name] == nil) }
    #expect(pages.last?["params"] == ["n": "1"])
    let secret = try await guest.request("navigation.contains", ["uri": "native://secret"])
    #expect(secret["result"] == .null)
    let own = try await guest.request("navigation.contains", ["uri": "native://own"])
    #expect(own["result"]?["id"] == fixture.ownPage)
  }

  @Test func guestReceivesNoEventsOfOtherPages() async throws {
    let fixture = try await GuestFixture()
    let (guest, _) = try await fixture.openGuest()
    try await guest.subscribe("*")
    try await fixture.shell.subscribe("page.closed")
    try await fixture.shell.call(1, "navigation.back", [:])
    while try await fixture.shell.nextMessage()["method"] != "event" {}
    #expect(try await guest.hasNoPendingMessages())
  }

  @Test func guestClosesOnlyItsOwnPages() async throws {
    let fixture = try await GuestFixture()
    let (guest, _) = try await fixture.openGuest(["page": fixture.ownPage])
    try await guest.call("open", "router.open", ["uri": "native://child"])
    let request = try await fixture.shell.nextRequest("page.open")
    #expect(request["params"]?["caller"]?["guest"] == true)
    try await fixture.shell.respond(request, .null)
    // Its child and its own page, but no page below.
    #expect(try await guest.callStatus("navigation.back") == "ok")
    #expect(try await guest.callStatus("navigation.back", ["count": 2]) == "ok")
    #expect(
      try await fixture.shell.request("navigation.stack")["result"]?["pages"]?.array?.count == 1)
    try await guest.call(
      "root", "router.open", ["uri": "native://root", "style": "root"])
    #expect(try await guest.response("root")["error"]?["data"]?["rule"] == "invitation")
  }

  @Test func guestPassesParametersOnlyToItsOwnPages() async throws {
    let fixture = try await GuestFixture()
    let again: Value = ["uri": "native://own?n=2", "style": "popTo"]
    let (other, _) = try await fixture.openGuest()
    #expect(try await other.callStatus("router.open", again) == "invitation")
    let exts: Value = ["uri": "native://own", "style": "popTo", "exts": ["animated": false]]
    #expect(try await other.callStatus("router.open", exts) == "invitation")
    let (guest, _) = try await fixture.openGuest(["page": fixture.ownPage])
    try await guest.call("again", "router.open", again)
    let resumed = try await fixture.shell.nextRequest("page.resume")
    #expect(resumed["params"]?["page"] == fixture.ownPage)
    #expect(resumed["params"]?["params"] == ["n": "2"])
    // Without new ones it waits for the page, as any caller.
    try await other.call(
      "waits", "router.open", ["uri": "native://own", "style": "popTo"])
    #expect(try await other.nextMessage()["method"] == "$/progress")
  }

  @Test func invitationLimitsRoutesAndHosts() async throws {
    let fixture = try await GuestFixture()
    let (guest, _) = try await fixture.openGuest(["routes": ["action://add"], "hosts": ["flutter"]])
    #expect(try await guest.callStatus("router.invoke", ["uri": "action://add"]) == "ok")
    #expect(try await guest.callStatus("router.invoke", ["uri": "action://other"]) == "invitation")
    #expect(try await guest.callStatus("router.open", ["uri": "native://x"]) == "invitation")
    let cases: [(Value, String)] = [
      (["scheme": "flutter", "kind": "page"], "ok"),
      (["patterns": ["flutter://a"], "kind": "page"], "ok"),
      (["scheme": "native", "kind": "page"], "invitation"),
      (["scheme": "flutter", "kind": "task", "scope": "server"], "invitation"),
    ]
    for (host, verdict) in cases {
      #expect(try await guest.callStatus("host.register", ["hosts": [host]]) == verdict)
    }
  }

  @Test func invitationLimitsUses() async throws {
    let fixture = try await GuestFixture()
    let invitation = try await fixture.invite(["uses": 1])
    let (first, opened) = try await WireClient.open(fixture.bridge, joining: invitation)
    #expect(opened["session"] == fixture.openResult["session"])
    let rejected = try await WireClient.open(fixture.bridge, joining: invitation)
    #expect(rejected.opened == .null)
    // The token of its open result does not admit the guest again.
    let again = try await WireClient.open(
      fixture.bridge,
      joining: ["session": opened["session"] ?? .null, "joinToken": opened["token"] ?? .null])
    #expect(again.opened == .null)
    // A page that reloads can join again; a page that has closed its session cannot.
    try await first.close(CloseCode(rawValue: 1001))
    await fixture.bridge.server.loop.settle()
    let (second, reloaded) = try await WireClient.open(fixture.bridge, joining: invitation)
    #expect(reloaded["guest"] == true)
    #expect(try await second.callStatus("session.close") == "ok")
    await fixture.bridge.server.loop.settle()
    #expect(try await WireClient.open(fixture.bridge, joining: invitation).opened == .null)
  }

  @Test func invitationExpires() async throws {
    let fixture = try await GuestFixture()
    let invitation = try await fixture.invite(["expiresMs": 1000])
    try await fixture.bridge.server.advance(by: .milliseconds(1001))
    #expect(try await WireClient.open(fixture.bridge, joining: invitation).opened == .null)
  }

  @Test func guestInheritsUserAndInvitedGroups() async throws {
    let identify: IdentityResolver = { handshake in
      Identity(user: handshake.token, groups: ["staff", "beta"])
    }
    let fixture = try await GuestFixture(identify: identify, from: Handshake(token: "anna"))
    try fixture.bridge.router.task("action://who") { call in
      [
        "user": call.caller.identity.user.map(Value.string) ?? .null,
        "groups": .array(call.caller.identity.groups.sorted().map { .string($0.text) }),
      ]
    }
    let (guest, _) = try await fixture.openGuest(["groups": ["beta"]])
    let who = try await guest.request("router.invoke", ["uri": "action://who"])["result"]
    #expect(who == ["user": "anna", "groups": ["beta"]])
    let foreign = try await fixture.shell.callStatus("session.invite", ["groups": ["root"]])
    #expect(foreign == "invitation")
  }

  /// Tokens of anna: `old` and `new` differ in groups and expiry. Any other belongs to ben.
  private static func identifyRenewed(_ wall: Int64) -> IdentityResolver {
    { handshake in
      switch handshake.token {
      case "old": Identity(user: "anna", groups: ["staff", "beta"], expires: wall + 10_000)
      case "new": Identity(user: "anna", groups: ["staff"], expires: wall + 60_000)
      default: Identity(user: "ben")
      }
    }
  }

  @Test func guestLosesGroupsThatItsInviterLoses() async throws {
    let fixture = try await GuestFixture(
      identify: Self.identifyRenewed(InMemoryBridge.startTime), from: Handshake(token: "old"))
    try fixture.bridge.router.task("action://groups") { call in
      .array(call.caller.identity.groups.sorted().map { .string($0.text) })
    }
    let (guest, _) = try await fixture.openGuest(["groups": ["beta", "staff"]])
    let groups: Value = ["uri": "action://groups"]
    #expect(try await guest.request("router.invoke", groups)["result"] == ["beta", "staff"])
    #expect(try await fixture.shell.callStatus("session.renew", ["token": "new"]) == "ok")
    #expect(try await guest.request("router.invoke", groups)["result"] == ["staff"])
    // The guest stays as long as the new token.
    try await fixture.bridge.server.advance(by: .seconds(11))
    #expect(try await guest.request("router.invoke", groups)["result"] == ["staff"])
  }

  @Test func guestEndsWithIdentityOfItsInviter() async throws {
    let fixture = try await GuestFixture(
      identify: Self.identifyRenewed(InMemoryBridge.startTime), from: Handshake(token: "old"))
    let unused = try await fixture.invite()
    let (guest, _) = try await fixture.openGuest()
    try await fixture.bridge.server.advance(by: .seconds(11))
    #expect(try await guest.nextCloseCode() == CloseCode.renewal.rawValue)
    // Nor does its invitation, or another one, open the session again.
    #expect(try await WireClient.open(fixture.bridge, joining: unused).opened == .null)
  }

  @Test func waitingLinkEndsWithIdentityOfItsSender() async throws {
    let bridge = InMemoryBridge(
      Router(), identify: Self.identifyRenewed(InMemoryBridge.startTime))
    let (sender, opened) = try await WireClient.open(bridge, from: Handshake(token: "old"))
    let ben = try await WireClient.open(bridge, joining: opened, from: Handshake(token: "ben"))
      .client
    let link: Value = ["uri": "later://page"]
    #expect(try await sender.callStatus("router.deliver", link) == "ok")
    try await ben.subscribe("route.failed")
    try await bridge.server.advance(by: .seconds(11))
    try await ben.call(1, "host.register", ["hosts": [["scheme": "later", "kind": "page"]]])
    let event = try await ben.nextRequest("event")
    #expect(event["params"]?["topic"] == "route.failed")
    #expect(event["params"]?["data"]?["uri"] == "later://page")
  }

  @Test func invitationOfDepartedInviterIsVoid() async throws {
    let fixture = try await GuestFixture()
    let member = try await WireClient.open(fixture.bridge, joining: fixture.openResult).client
    let invitation = try await member.request("session.invite", ["uses": 2])["result"] ?? .null
    let joining: Value = [
      "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
    ]
    let guest = try await WireClient.open(fixture.bridge, joining: joining).client
    #expect(try await member.callStatus("session.close") == "ok")
    await fixture.bridge.server.loop.settle()
    #expect(try await WireClient.open(fixture.bridge, joining: joining).opened == .null)
    #expect(try await guest.callStatus("router.invoke", ["uri": "action://add"]) == "ok")
  }

  @Test(
    arguments: [
      (["page": "p99"], "2404"), (["uses": 0], "-32602"), (["expiresMs": 0], "-32602"),
      (["hosts": [1]], "-32602"), (["routes": ["native://a/:"]], "-32602"),
      (["groups": .array((0..<65).map { .string("\($0)") })], "2429"),
    ] as [(Value, String)])
  func rejectsInvalidInvitation(params: Value, verdict: String) async throws {
    let fixture = try await GuestFixture()
    #expect(try await fixture.shell.callStatus("session.invite", params) == verdict)
  }
}

import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Who may do what: the table of PROTOCOL.md, a test for each cell.
@Suite(.timeLimit(.minutes(1)))
struct GuestTests {
  /// A session whose first client shows the pages of `native`, with two pages: `secret`, and `own`
  /// above it, in which a guest runs.
  private struct Scene {
    let bridge: InMemoryBridge
    let shell: WireClient
    let hello: Value
    let secret: Value
    let own: Value

    init(identify: IdentityResolver? = nil, from handshake: Handshake = Handshake()) async throws {
      let router = Router()
      try router.task("action://add") { call in .bool(call.caller.isGuest) }
      try router.task("action://other") { _ in 1 }
      bridge = InMemoryBridge(router, identify: identify)
      (shell, hello) = try await WireClient.open(
        bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: handshake)
      secret = try await Self.adopt("native://secret?pin=1234", shell)
      own = try await Self.adopt("native://own?n=1", shell)
    }

    private static func adopt(_ uri: Value, _ shell: WireClient) async throws -> Value {
      try await shell.ask("navigation.adopt", ["uri": uri])["result"]?["id"] ?? .null
    }

    func invite(_ params: ValueObject = [:]) async throws -> Value {
      let invitation = try await shell.ask("session.invite", .object(params))["result"] ?? .null
      return [
        "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
      ]
    }

    func guest(
      _ invitation: ValueObject = [:], _ hello: ValueObject = [:]
    ) async throws -> (client: WireClient, hello: Value) {
      try await WireClient.open(bridge, hello, joining: try await invite(invitation))
    }

    /// A client of a role that runs in the page `own`.
    func client(_ role: String) async throws -> WireClient {
      switch role {
      case "first": return shell
      case "member":
        return try await WireClient.open(
          bridge, ["page": own], joining: hello
        ).client
      default: return try await guest(["page": own]).client
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
      ("navigation.adopt", ["uri": "native://new"], "ok", "invitation"),
      ("navigation.selectTab", ["index": 0], "2404", "invitation"),
      ("router.invoke", ["uri": "navigation:selectTab?index=0"], "2404", "invitation"),
      ("page.call", ["page": "$secret", "method": "x"], "-", "invitation"),
      ("host.register", ["hosts": [["scheme": "native", "kind": "page"]]], "ok", "invitation"),
      ("host.register", ["hosts": [["patterns": ["/a"], "kind": "page"]]], "ok", "invitation"),
      ("events.subscribe", ["topics": ["*"]], "ok", "ok"),
      ("session.invite", [:], "ok", "invitation"),
      ("session.list", [:], "default", "default"),
      ("$/ping", [:], "ok", "ok"),
    ] as [(String, Value, String, String)],
    ["first", "member", "guest"])
  func eachRoleDoesWhatTheTableSays(
    row: (method: String, params: Value, member: String, guest: String), role: String
  ) async throws {
    let expected = role == "guest" ? row.guest : row.member
    guard expected != "-" else { return }
    let scene = try await Scene()
    let client = try await scene.client(role)
    let params = row.params.object?.members.map { member in
      switch member.value {
      case "$own": (member.name, scene.own)
      case "$secret": (member.name, scene.secret)
      default: (member.name, member.value)
      }
    }
    let verdict = try await client.verdict(row.method, .object(ValueObject(params ?? [])))
    #expect(verdict == expected, "\(row.method)")
  }

  @Test func aGuestLearnsNothingOfOthersPages() async throws {
    let scene = try await Scene()
    let (guest, hello) = try await scene.guest(["page": scene.own])
    #expect(hello["joinToken"] == nil)
    #expect(hello["guest"] == true)
    #expect(hello["page"] == scene.own)
    let pages = try await guest.ask("navigation.stack")["result"]?["pages"]?.list ?? []
    #expect(pages.count == 2)
    #expect(pages.first?["id"] == scene.secret)
    for name in ["uri", "params", "host"] { #expect(pages.first?[name] == nil) }
    #expect(pages.last?["params"] == ["n": "1"])
    let secret = try await guest.ask("navigation.contains", ["uri": "native://secret"])
    #expect(secret["result"] == .null)
    let own = try await guest.ask("navigation.contains", ["uri": "native://own"])
    #expect(own["result"]?["id"] == scene.own)
  }

  @Test func aGuestHearsOfNothingThatIsOthers() async throws {
    let scene = try await Scene()
    let (guest, _) = try await scene.guest()
    try await guest.subscribe("*")
    try await scene.shell.subscribe("page.closed")
    try await scene.shell.call(1, "navigation.back", [:])
    while try await scene.shell.message()["method"] != "event" {}
    #expect(try await guest.hasHeardNothing())
  }

  @Test func aGuestClosesItsOwnPageAndThoseThatItOpened() async throws {
    let scene = try await Scene()
    let (guest, _) = try await scene.guest(["page": scene.own])
    try await guest.call("open", "router.open", ["uri": "native://child"])
    let asked = try await next("page.open", of: scene.shell)
    #expect(asked["params"]?["caller"]?["guest"] == true)
    try await scene.shell.reply(asked, .null)
    // Its child, its own page, and nothing below.
    #expect(try await guest.verdict("navigation.back") == "ok")
    #expect(try await guest.verdict("navigation.back", ["count": 2]) == "ok")
    #expect(try await scene.shell.ask("navigation.stack")["result"]?["pages"]?.list?.count == 1)
    try await guest.call(
      "root", "router.open", ["uri": "native://root", "style": "root"])
    #expect(try await guest.answer("root")["error"]?["data"]?["rule"] == "invitation")
  }

  private func next(_ method: Value, of client: WireClient) async throws -> Value {
    while true {
      let message = try await client.message()
      if message["method"] == method { return message }
    }
  }

  @Test func anInvitationIsForItsRoutesAndHosts() async throws {
    let scene = try await Scene()
    let (guest, _) = try await scene.guest(["routes": ["action://add"], "hosts": ["flutter"]])
    #expect(try await guest.verdict("router.invoke", ["uri": "action://add"]) == "ok")
    #expect(try await guest.verdict("router.invoke", ["uri": "action://other"]) == "invitation")
    #expect(try await guest.verdict("router.open", ["uri": "native://x"]) == "invitation")
    let cases: [(Value, String)] = [
      (["scheme": "flutter", "kind": "page"], "ok"),
      (["patterns": ["flutter://a"], "kind": "page"], "ok"),
      (["scheme": "native", "kind": "page"], "invitation"),
      (["scheme": "flutter", "kind": "task", "scope": "server"], "invitation"),
    ]
    for (host, verdict) in cases {
      #expect(try await guest.verdict("host.register", ["hosts": [host]]) == verdict)
    }
  }

  @Test func anInvitationIsUsedSoOftenAndNoLonger() async throws {
    let scene = try await Scene()
    let invitation = try await scene.invite(["uses": 1])
    let (first, hello) = try await WireClient.open(scene.bridge, joining: invitation)
    #expect(hello["session"] == scene.hello["session"])
    let refused = try await WireClient.open(scene.bridge, joining: invitation)
    #expect(refused.hello == .null)
    // What it was told does not let it in again.
    let again = try await WireClient.open(
      scene.bridge,
      joining: ["session": hello["session"] ?? .null, "joinToken": hello["token"] ?? .null])
    #expect(again.hello == .null)
    // A page that reloads comes again; one that has closed its session does not.
    try await first.close(CloseCode(rawValue: 1001))
    await scene.bridge.server.loop.settle()
    let (second, reloaded) = try await WireClient.open(scene.bridge, joining: invitation)
    #expect(reloaded["guest"] == true)
    #expect(try await second.verdict("session.close") == "ok")
    await scene.bridge.server.loop.settle()
    #expect(try await WireClient.open(scene.bridge, joining: invitation).hello == .null)
  }

  @Test func anInvitationExpires() async throws {
    let scene = try await Scene()
    let invitation = try await scene.invite(["expiresMs": 1000])
    try await scene.bridge.server.advance(by: .milliseconds(1001))
    #expect(try await WireClient.open(scene.bridge, joining: invitation).hello == .null)
  }

  @Test func aGuestHasTheUserAndTheGroupsThatWereHandedOn() async throws {
    let identify: IdentityResolver = { handshake in
      Identity(user: handshake.token, groups: ["staff", "beta"])
    }
    let scene = try await Scene(identify: identify, from: Handshake(token: "anna"))
    try scene.bridge.router.task("action://who") { call in
      [
        "user": call.caller.identity.user.map(Value.string) ?? .null,
        "groups": .list(call.caller.identity.groups.sorted().map(Value.string)),
      ]
    }
    let (guest, _) = try await scene.guest(["groups": ["beta"]])
    let who = try await guest.ask("router.invoke", ["uri": "action://who"])["result"]
    #expect(who == ["user": "anna", "groups": ["beta"]])
    let foreign = try await scene.shell.verdict("session.invite", ["groups": ["root"]])
    #expect(foreign == "invitation")
  }

  @Test(
    arguments: [
      (["page": "p99"], "2404"), (["uses": 0], "-32602"), (["expiresMs": 0], "-32602"),
      (["hosts": [1]], "-32602"), (["routes": ["native://a/:"]], "-32602"),
      (["groups": .list((0..<65).map { .string("\($0)") })], "2429"),
    ] as [(Value, String)])
  func aWrongInvitationIsRefused(params: Value, verdict: String) async throws {
    let scene = try await Scene()
    #expect(try await scene.shell.verdict("session.invite", params) == verdict)
  }
}

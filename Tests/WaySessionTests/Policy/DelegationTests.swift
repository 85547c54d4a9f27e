import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Each way in which one client can have another act: nobody gains rights by it.
@Suite(.timeLimit(.minutes(1)))
struct DelegationTests {
  private let router = Router()
  private let page = Handshake(origin: "https://page.test")

  /// Everybody may call what is public; only who is no page may call the rest.
  private func bridge() throws -> InMemoryBridge {
    try router.task("action://secret") { _ in "secret" }
    try router.task("action://public") { _ in "public" }
    let rules = try CompiledPolicy([
      Policy.Rule("all", .allow, ["*"]),
      Policy.Rule(
        "secret", .deny, ["*"], origins: ["https://page.test"],
        routes: ["action://secret", "native://secret"]),
    ])
    return InMemoryBridge(router, rules: rules)
  }

  /// A shell that hosts, and a page of another origin in its session.
  private func pair(
    _ bridge: InMemoryBridge
  ) async throws -> (shell: WireClient, page: WireClient) {
    let (shell, hello) = try await WireClient.open(
      bridge,
      ["hosts": [["scheme": "native", "kind": "page"], ["scheme": "host", "kind": "task"]]])
    return (shell, try await WireClient.open(bridge, joining: hello, from: page).client)
  }

  @Test func aSwiftTaskCallsWithTheRightsOfItsCaller() async throws {
    let bridge = try bridge()
    try router.task("action://deputy") { call in
      try await call.navigator.invoke("action://secret")
    }
    let (shell, page) = try await pair(bridge)
    #expect(try await shell.verdict("router.invoke", ["uri": "action://deputy"]) == "ok")
    #expect(try await page.verdict("router.invoke", ["uri": "action://deputy"]) == "secret")
  }

  @Test(arguments: ["action://jump", "action://moved", "action://fallen", "action://saved"])
  func whatLeadsElsewhereLeadsNobodyFurther(uri: String) async throws {
    let bridge = try bridge()
    try router.task("action://jump") { _ in 1 }
    router.intercept("jump", on: .routes(["action://jump"])) { _ in .redirect(to: "action://secret")
    }
    try router.redirect("action://moved", to: "action://secret")
    try router.register(
      Route(
        name: "fallen", patterns: [try RoutePattern("action://fallen")], kind: .task,
        fallback: try PatternTarget("action://secret")))
    router.undefinedRoute { _ in .redirect(uri: "action://secret", params: [:]) }
    let (shell, page) = try await pair(bridge)
    #expect(try await shell.verdict("router.invoke", ["uri": .string(uri)]) == "ok")
    #expect(try await page.verdict("router.invoke", ["uri": .string(uri)]) == "secret")
  }

  @Test func aHostThatActsForItsCallerHasNoMoreThanTheCallersRights() async throws {
    let bridge = try bridge()
    let (shell, page) = try await pair(bridge)
    for (caller, verdict) in [(shell, "ok"), (page, "secret")] {
      try await caller.call("deputy", "router.invoke", ["uri": "host://deputy"])
      var run = try await shell.message()
      while run["method"] != "task.run" { run = try await shell.message() }
      let params: Value = ["uri": "action://secret", "onBehalfOf": run["id"] ?? .null]
      #expect(try await shell.verdict("router.invoke", params) == verdict)
      let open = try await shell.ask("router.canOpen", params)
      #expect(open["result"]?["canOpen"] == .bool(verdict == "ok"))
      try await shell.reply(run, 1)
      _ = try await caller.answer("deputy")
      // Once it has answered, it acts for nobody.
      #expect(try await shell.verdict("router.invoke", params) == "-32602")
    }
    let stranger: Value = ["uri": "action://secret", "onBehalfOf": 99]
    #expect(try await page.verdict("router.invoke", stranger) == "-32602")
  }

  @Test func whoActsForSomebodyElseKeepsToItsOwnRightsToo() async throws {
    let bridge = try bridge()
    let (shell, page) = try await pair(bridge)
    #expect(
      try await page.verdict("host.register", ["hosts": [["scheme": "weak", "kind": "task"]]])
        == "ok")
    try await shell.call("deputy", "router.invoke", ["uri": "weak://deputy"])
    let run = try await page.message()
    #expect(
      try await page.verdict(
        "router.invoke", ["uri": "action://secret", "onBehalfOf": run["id"] ?? .null]) == "secret")
  }

  @Test func aLinkIsFollowedWithTheRightsOfWhoDeliversIt() async throws {
    let bridge = try bridge()
    try router.register(
      Route(
        name: "deep", patterns: [try RoutePattern("native://deep")], kind: .page,
        parents: [try PatternTarget("native://secret")]))
    let (shell, page) = try await pair(bridge)
    #expect(try await page.verdict("router.deliver", ["uri": "native://secret"]) == "secret")
    // The parent is passed over, and the page itself opened.
    #expect(try await page.verdict("router.deliver", ["uri": "native://deep"]) == "ok")
    let asked = try await shell.message()
    #expect(asked["params"]?["page"]?["uri"] == "native://deep")
  }

  @Test func theStackIsNoWayAroundARule() async throws {
    let rules = try CompiledPolicy([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("no back", .deny, ["navigation.back"]),
    ])
    let (client, _) = try await WireClient.open(InMemoryBridge(router, rules: rules))
    #expect(try await client.verdict("navigation.back") == "no back")
    #expect(try await client.verdict("router.invoke", ["uri": "navigation:back"]) == "no back")
  }

  @Test func aPushIsDoneWithTheRightsOfWhoPushes() async throws {
    let bridge = try bridge()
    let (_, page) = try await pair(bridge)
    let pushed: Value = [
      "to": ["all": true], "method": "router.invoke", "params": ["uri": "action://secret"],
    ]
    let answer = try await page.ask("session.push", pushed)
    let delivered = answer["result"]?["delivered"]?.list ?? []
    #expect(delivered.count == 1)
    #expect(delivered.first?["error"]?["data"]?["rule"] == "secret")
  }

  @Test func anInvitationGivesNoMoreThanItsInviterHas() async throws {
    let bridge = try bridge()
    let (_, page) = try await pair(bridge)
    let invitation = try await page.ask("session.invite")["result"] ?? .null
    let joining: Value = [
      "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
    ]
    // The guest is no page of that origin itself.
    let (guest, _) = try await WireClient.open(bridge, joining: joining)
    #expect(try await guest.verdict("router.invoke", ["uri": "action://public"]) == "ok")
    #expect(try await guest.verdict("router.invoke", ["uri": "action://secret"]) == "secret")
  }
}

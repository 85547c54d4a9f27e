import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Each way in which a client makes another act on its behalf. None of them extends its rights.
@Suite(.timeLimit(.minutes(1)))
struct DelegationTests {
  private let router = Router()
  private let pageHandshake = Handshake(origin: "https://page.test")

  /// Returns a bridge whose public routes allow every caller. The other routes allow only callers
  /// that are not pages.
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

  /// Opens a shell with hosts, and a page of another origin in its session.
  private func openShellAndPage(
    _ bridge: InMemoryBridge
  ) async throws -> (shell: WireClient, page: WireClient) {
    let (shell, opened) = try await WireClient.open(
      bridge,
      ["hosts": [["scheme": "native", "kind": "page"], ["scheme": "host", "kind": "task"]]])
    return (shell, try await WireClient.open(bridge, joining: opened, from: pageHandshake).client)
  }

  @Test func nestedCallHasRightsOfCaller() async throws {
    let bridge = try bridge()
    try router.task("action://deputy") { call in
      try await call.navigator.invoke("action://secret")
    }
    let (shell, page) = try await openShellAndPage(bridge)
    #expect(try await shell.callStatus("router.invoke", ["uri": "action://deputy"]) == "ok")
    #expect(try await page.callStatus("router.invoke", ["uri": "action://deputy"]) == "secret")
  }

  @Test(arguments: ["action://jump", "action://moved", "action://fallen", "action://saved"])
  func redirectsKeepRightsOfCaller(uri: String) async throws {
    let bridge = try bridge()
    try router.task("action://jump") { _ in 1 }
    router.intercept("jump", on: .routes(["action://jump"])) { _ in .redirect(to: "action://secret")
    }
    try router.redirect("action://moved", to: "action://secret")
    try router.register(
      Route(
        name: "fallen", patterns: [try RoutePattern("action://fallen")], kind: .task,
        fallback: try PatternTarget("action://secret")))
    router.setUndefinedRouteHandler { _ in .redirect(uri: "action://secret", params: [:]) }
    let (shell, page) = try await openShellAndPage(bridge)
    #expect(try await shell.callStatus("router.invoke", ["uri": .string(uri)]) == "ok")
    #expect(try await page.callStatus("router.invoke", ["uri": .string(uri)]) == "secret")
  }

  @Test func delegatedCallIsLimitedToRightsOfCaller() async throws {
    let bridge = try bridge()
    let (shell, page) = try await openShellAndPage(bridge)
    for (caller, verdict) in [(shell, "ok"), (page, "secret")] {
      try await caller.call("deputy", "router.invoke", ["uri": "host://deputy"])
      var run = try await shell.nextMessage()
      while run["method"] != "task.run" { run = try await shell.nextMessage() }
      let params: Value = ["uri": "action://secret", "onBehalfOf": run["id"] ?? .null]
      #expect(try await shell.callStatus("router.invoke", params) == verdict)
      let open = try await shell.request("router.canOpen", params)
      #expect(open["result"]?["canOpen"] == .bool(verdict == "ok"))
      try await shell.respond(run, 1)
      _ = try await caller.response("deputy")
      // After its response, it acts on behalf of no client.
      #expect(try await shell.callStatus("router.invoke", params) == "-32602")
    }
    let stranger: Value = ["uri": "action://secret", "onBehalfOf": 99]
    #expect(try await page.callStatus("router.invoke", stranger) == "-32602")
  }

  @Test func delegatedCallIsLimitedToRightsOfHost() async throws {
    let bridge = try bridge()
    let (shell, page) = try await openShellAndPage(bridge)
    #expect(
      try await page.callStatus("host.register", ["hosts": [["scheme": "weak", "kind": "task"]]])
        == "ok")
    try await shell.call("deputy", "router.invoke", ["uri": "weak://deputy"])
    let run = try await page.nextMessage()
    #expect(
      try await page.callStatus(
        "router.invoke", ["uri": "action://secret", "onBehalfOf": run["id"] ?? .null]) == "secret")
  }

  @Test func deepLinkHasRightsOfItsSender() async throws {
    let bridge = try bridge()
    try router.register(
      Route(
        name: "deep", patterns: [try RoutePattern("native://deep")], kind: .page,
        parents: [try PatternTarget("native://secret")]))
    let (shell, page) = try await openShellAndPage(bridge)
    #expect(try await page.callStatus("router.deliver", ["uri": "native://secret"]) == "secret")
    // The page is not opened without its parent.
    #expect(try await page.callStatus("router.deliver", ["uri": "native://deep"]) == "secret")
    try router.page("native://plain")
    #expect(try await page.callStatus("router.deliver", ["uri": "native://plain"]) == "ok")
    let request = try await shell.nextMessage()
    #expect(request["params"]?["page"]?["uri"] == "native://plain")
  }

  @Test func navigationURIObeysRulesOfMethod() async throws {
    let rules = try CompiledPolicy([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("no back", .deny, ["navigation.back"]),
    ])
    let (client, _) = try await WireClient.open(InMemoryBridge(router, rules: rules))
    #expect(try await client.callStatus("navigation.back") == "no back")
    #expect(try await client.callStatus("router.invoke", ["uri": "navigation:back"]) == "no back")
  }

  /// The app may call every route, and a client that serves a call of the app only its own.
  @Test func hostOfTheAppHasItsOwnRights() async throws {
    let bridge = try bridge()
    let (page, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "web", "kind": "page"]]], from: pageHandshake)
    let session = try #require(opened["session"]?.string)
    async let delivered = bridge.sessionServer.dispatch.open(
      "web://a", [:], exts: [:], style: nil, in: .session(session), timeout: .seconds(10))
    let request = try await page.nextRequest("page.open")
    for (uri, status) in [("action://public", "ok"), ("action://secret", "secret")] {
      let params: Value = ["uri": .string(uri), "onBehalfOf": request["id"] ?? .null]
      #expect(try await page.callStatus("router.invoke", params) == status)
    }
    try await page.respond(request, .null)
    #expect(try await delivered.count == 1)
  }

  @Test func pushHasRightsOfItsSender() async throws {
    let bridge = try bridge()
    let (_, page) = try await openShellAndPage(bridge)
    let pushed: Value = [
      "to": ["all": true], "method": "router.invoke", "params": ["uri": "action://secret"],
    ]
    let response = try await page.request("session.push", pushed)
    let entries = response["result"]?["results"]?.array ?? []
    #expect(entries.count == 1)
    #expect(entries.first?["error"]?["data"]?["rule"] == "secret")
  }

  @Test func guestIsLimitedToRightsOfInviter() async throws {
    let bridge = try bridge()
    let (_, page) = try await openShellAndPage(bridge)
    let invitation = try await page.request("session.invite")["result"] ?? .null
    let joining: Value = [
      "session": invitation["session"] ?? .null, "invitation": invitation["token"] ?? .null,
    ]
    // The guest itself is not a page of that origin.
    let (guest, _) = try await WireClient.open(bridge, joining: joining)
    #expect(try await guest.callStatus("router.invoke", ["uri": "action://public"]) == "ok")
    #expect(try await guest.callStatus("router.invoke", ["uri": "action://secret"]) == "secret")
  }
}

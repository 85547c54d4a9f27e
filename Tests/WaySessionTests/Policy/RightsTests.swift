import TestSupport
import Testing
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Combinations of rules, callers, methods and routes, with the rule that decides.
@Suite(.timeLimit(.minutes(1)))
struct RightsTests {
  private static let rules: [Policy.Rule] = [
    Policy.Rule(
      "pages", .allow, ["router.*"], origins: ["https://*.shop.test"],
      routes: ["cart", "action://pay/:id"]),
    Policy.Rule("staff", .allow, ["*"], groups: ["staff"], coversServer: true),
    Policy.Rule("no secrets", .deny, ["*"], routes: ["native://secret/*"]),
    Policy.Rule("no stack", .deny, ["navigation.stack"], origins: ["https://*.shop.test"]),
    Policy.Rule("anna", .allow, ["navigation.*"], subjects: ["anna"]),
    Policy.Rule(
      "hosts", .allow, ["host.register"], origins: ["https://*.shop.test"], schemes: ["web"]),
    Policy.Rule("local", .allow, ["router.canOpen"]),
  ]

  private static func bridge(_ rules: [Policy.Rule] = rules) throws -> InMemoryBridge {
    let router = Router()
    try router.register(
      Route(
        name: "cart", patterns: [try RoutePattern("action://cart")], kind: .task,
        handler: .task { _ in 1 }))
    try router.task("action://pay/:id") { _ in 2 }
    try router.task("action://other") { _ in 3 }
    try router.task("action://x") { _ in 4 }
    try router.redirect("action://old", to: "action://other")
    try router.redirect("action://older", to: "action://cart")
    return InMemoryBridge(
      router,
      identify: { handshake in
        Identity(
          user: handshake.token, groups: handshake.token == "boss" ? ["staff"] : [])
      }, rules: try CompiledPolicy(rules))
  }

  @Test(
    arguments: [
      // The page of an allowed origin.
      ("https://a.shop.test", nil, "router.invoke", "action://cart", "ok"),
      ("https://a.shop.test", nil, "router.invoke", "action://pay/7", "ok"),
      ("https://a.shop.test", nil, "router.invoke", "action://other", "default"),
      ("https://a.shop.test", nil, "router.invoke", "action://old", "default"),
      ("https://a.shop.test", nil, "router.invoke", "action://older", "ok"),
      ("https://a.shop.test", nil, "router.invoke", "action://nowhere", "default"),
      ("https://a.shop.test", nil, "router.open", "https://example.org/", "default"),
      ("https://a.shop.test", nil, "navigation.stack", nil, "no stack"),
      ("https://a.shop.test", nil, "navigation.contains", "a:b", "default"),
      // A page of another origin, and no page.
      ("https://shop.test", nil, "router.invoke", "action://cart", "default"),
      ("https://shop.test.evil.test", nil, "router.invoke", "action://cart", "default"),
      (nil, nil, "router.invoke", "action://cart", "default"),
      (nil, nil, "session.list", nil, "default"),
      (nil, nil, "$/ping", nil, "ok"),
      (nil, nil, "rpc.discover", nil, "ok"),
      // A user, and a group.
      (nil, "anna", "navigation.stack", nil, "ok"),
      ("https://a.shop.test", "anna", "navigation.stack", nil, "no stack"),
      (nil, "anna", "router.invoke", "action://cart", "default"),
      (nil, "boss", "router.invoke", "action://other", "ok"),
      (nil, "boss", "router.invoke", "action://nowhere", "2404"),
      (nil, "boss", "session.list", nil, "ok"),
      (nil, "boss", "router.open", "native://secret/1", "no secrets"),
      (nil, "boss", "router.open", "native://secret/./1", "no secrets"),
      (nil, "boss", "router.open", "NATIVE://secret/1", "no secrets"),
      (nil, "boss", "router.open", "native://secret/%31", "no secrets"),
      (nil, "boss", "router.invoke", "action://x", "ok"),
      (nil, "boss", "router.deliver", "native://secret/1", "no secrets"),
      (nil, "boss", "navigation.adopt", "native://secret/1", "no secrets"),
      (nil, "boss", "router.explain", "native://secret/1", "no secrets"),
    ] as [(String?, String?, String, String?, String)])
  func rulesDecideCalls(
    origin: String?, token: String?, method: String, uri: String?, verdict: String
  ) async throws {
    let (client, _) = try await WireClient.open(
      Self.bridge(), from: Handshake(origin: origin, token: token))
    let params: Value = uri.map { ["uri": .string($0)] } ?? [:]
    #expect(try await client.callStatus(method, params) == verdict)
  }

  @Test(
    arguments: [
      ("https://a.shop.test", nil, ["scheme": "web", "kind": "page"], "ok"),
      ("https://a.shop.test", nil, ["scheme": "WEB", "kind": "page"], "ok"),
      ("https://a.shop.test", nil, ["scheme": "native", "kind": "page"], "default"),
      ("https://a.shop.test", nil, ["patterns": ["web://a"], "kind": "page"], "ok"),
      ("https://a.shop.test", nil, ["patterns": ["native://a"], "kind": "page"], "default"),
      ("https://a.shop.test", nil, ["patterns": ["/a"], "kind": "page"], "default"),
      (
        "https://a.shop.test", nil, ["scheme": "web", "kind": "task", "scope": "server"], "default"
      ),
      (nil, "boss", ["patterns": ["/a"], "kind": "page"], "ok"),
      (nil, "boss", ["scheme": "web", "kind": "task", "scope": "server"], "ok"),
      (nil, "boss", ["scheme": "web", "kind": "page", "scope": "server"], "-32602"),
      (nil, "boss", ["scheme": "web", "kind": "task", "scope": "all"], "-32602"),
    ] as [(String?, String?, Value, String)])
  func hostRegistrationRequiresRuleForScheme(
    origin: String?, token: String?, host: Value, verdict: String
  ) async throws {
    let bridge = try Self.bridge()
    let handshake = Handshake(origin: origin, token: token)
    let (client, _) = try await WireClient.open(bridge, from: handshake)
    #expect(try await client.callStatus("host.register", ["hosts": [host]]) == verdict)
    // The hosts in `session.open` obey the same rules.
    let second = try await WireClient.connect(
      to: bridge, subprotocol: Handshake.sessionSubprotocol, from: handshake)
    #expect(try await second.callStatus("session.open", ["hosts": [host]]) == verdict)
  }

  @Test func schemeDenialRejectsPatternForAllSchemes() async throws {
    let bridge = try Self.bridge([
      Policy.Rule("all", .allow, ["*"]),
      Policy.Rule("not native", .deny, ["host.register"], schemes: ["native"]),
    ])
    let (client, _) = try await WireClient.open(bridge)
    let hosts: [(Value, String)] = [
      (["scheme": "web", "kind": "page"], "ok"),
      (["scheme": "native", "kind": "page"], "not native"),
      (["patterns": ["/a"], "kind": "page"], "not native"),
    ]
    for (host, verdict) in hosts {
      #expect(try await client.callStatus("host.register", ["hosts": [host]]) == verdict)
    }
  }

  @Test func allowsAllButAdministrationWithoutRules() async throws {
    let router = Router()
    try router.task("action://a") { _ in 1 }
    let (client, _) = try await WireClient.open(InMemoryBridge(router))
    #expect(try await client.callStatus("router.invoke", ["uri": "action://a"]) == "ok")
    for method in ["session.list", "session.push", "table.get", "table.update"] {
      #expect(try await client.callStatus(method) == "default")
    }
    let host: Value = ["scheme": "x", "kind": "task", "scope": "server"]
    #expect(try await client.callStatus("host.register", ["hosts": [host]]) == "default")
  }

  @Test func deniesBeforeValidatingParameters() async throws {
    let router = Router()
    try router.register(
      Route(
        name: "a", patterns: [try RoutePattern("action://a")], kind: .task,
        parameters: [ParameterDeclaration("n", .integer, isRequired: true)],
        handler: .task { _ in 1 }))
    let rules = try CompiledPolicy([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("none", .deny, ["*"], routes: ["a"]),
    ])
    let (client, _) = try await WireClient.open(InMemoryBridge(router, rules: rules))
    #expect(try await client.callStatus("router.invoke", ["uri": "action://a"]) == "none")
  }

  @Test(arguments: ["caf\u{E9}", "cafe\u{301}"])
  func comparesNamesAsBytes(name: String) async throws {
    let router = Router()
    for (route, permission) in [("open", nil), ("closed", "caf\u{E9}")] {
      try router.register(
        Route(
          name: route, patterns: [try RoutePattern("action://\(route)")], kind: .task,
          permissions: permission.map { [$0] } ?? [], handler: .task { _ in 1 }))
    }
    let rules = try CompiledPolicy([
      Policy.Rule("group", .allow, ["router.invoke"], groups: ["caf\u{E9}"]),
      Policy.Rule("user", .allow, ["router.canOpen"], subjects: ["caf\u{E9}"]),
      Policy.Rule("all", .allow, ["session.*"]),
    ])
    let identify: IdentityResolver = { handshake in
      Identity(user: handshake.token, groups: handshake.token.map { [UTF8Key($0)] } ?? [])
    }
    let bridge = InMemoryBridge(router, identify: identify, rules: rules)
    let (client, _) = try await WireClient.open(bridge, from: Handshake(token: name))
    let isSame = name.utf8.count == 5
    for (method, uri) in [
      ("router.invoke", "action://open"), ("router.invoke", "action://closed"),
      ("router.canOpen", "action://open"),
    ] {
      let status = try await client.callStatus(method, ["uri": Value.string(uri)])
      #expect((status == "ok") == isSame, "\(method) \(uri): \(status)")
    }
    let own = try await client.callStatus("session.invite", ["groups": [Value.string(name)]])
    #expect(own == "ok")
    let other = isSame ? "cafe\u{301}" : "caf\u{E9}"
    let foreign = try await client.callStatus("session.invite", ["groups": [Value.string(other)]])
    #expect(foreign == "invitation")
  }

  @Test func audiencesAndIdentitiesDifferByBytes() {
    for (one, other) in [
      (Audience.user("\u{E9}"), Audience.user("e\u{301}")),
      (.group("\u{E9}"), .group("e\u{301}")),
      (.client("\u{E9}", session: "s"), .client("e\u{301}", session: "s")),
      (.user("s"), .group("s")),
    ] {
      #expect(one != other)
      #expect(Set([one, other, one]).count == 2)
    }
    #expect(Identity(user: "\u{E9}") != Identity(user: "e\u{301}"))
    #expect(Identity(groups: ["\u{E9}"]) != Identity(groups: ["e\u{301}"]))
  }

  @Test func checksPermissionsOfRoute() async throws {
    let router = Router()
    try router.register(
      Route(
        name: "a", patterns: [try RoutePattern("action://a")], kind: .task,
        permissions: ["staff"], handler: .task { _ in 1 }))
    let bridge = InMemoryBridge(
      router, identify: { Identity(groups: $0.token.map { [UTF8Key($0)] } ?? []) })
    let (anonymous, _) = try await WireClient.open(bridge)
    let (staff, _) = try await WireClient.open(bridge, from: Handshake(token: "staff"))
    #expect(try await anonymous.callStatus("router.invoke", ["uri": "action://a"]) == "permissions")
    #expect(try await staff.callStatus("router.invoke", ["uri": "action://a"]) == "ok")
    #expect(
      try await anonymous.request("router.canOpen", ["uri": "action://a"])["result"]?["canOpen"]
        == false)
    #expect(
      try await staff.request("router.canOpen", ["uri": "action://a"])["result"]?["canOpen"] == true
    )
  }

  @Test func queriesApplyRulesOfCaller() async throws {
    let bridge = try Self.bridge()
    let page = Handshake(origin: "https://a.shop.test")
    let (client, _) = try await WireClient.open(bridge, from: page)
    for (uri, canOpen) in [("action://cart", true), ("action://other", false)] {
      let response = try await client.request("router.canOpen", ["uri": .string(uri)])
      #expect(response["result"]?["canOpen"] == .bool(canOpen), "\(uri)")
    }
    let explanation = try await client.request("router.explain", ["uri": "action://cart"])
    #expect(explanation["result"]?["policy"] == .null)
  }

  @Test func explainAllowsTaskWhenOnlyOpenIsDenied() async throws {
    let bridge = try Self.bridge([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("run", .deny, ["router.open"]),
      Policy.Rule("none", .deny, ["router.*"], routes: ["action://x"]),
    ])
    let (client, _) = try await WireClient.open(bridge)
    let explanation = try await client.request("router.explain", ["uri": "action://cart"])["result"]
    #expect(explanation?["canOpen"] == true)
    #expect(explanation?["policy"] == .null)
    #expect(try await client.callStatus("router.explain", ["uri": "action://x"]) == "none")
  }

  @Test func explainDeniesTaskWhenInvokeIsDenied() async throws {
    let bridge = try Self.bridge([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("no tasks", .deny, ["router.invoke"]),
    ])
    let (client, _) = try await WireClient.open(bridge)
    let explanation = try await client.request("router.explain", ["uri": "action://cart"])["result"]
    #expect(explanation?["canOpen"] == false && explanation?["policy"] == "no tasks")
    let response = try await client.request("router.canOpen", ["uri": "action://cart"])
    #expect(response["result"]?["canOpen"] == false)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://cart"]) == "no tasks")
  }

  @Test func slashPatternCoversEveryScheme() async throws {
    let bridge = try Self.bridge([
      Policy.Rule("all", .allow, ["*"]), Policy.Rule("no cart", .deny, ["*"], routes: ["/cart"]),
    ])
    let (client, _) = try await WireClient.open(bridge)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://cart"]) == "no cart")
    #expect(try await client.callStatus("router.invoke", ["uri": "action://other"]) == "ok")
  }

  @Test func appliesChangedRulesImmediately() async throws {
    let bridge = try Self.bridge([Policy.Rule("all", .allow, ["*"])])
    let (client, _) = try await WireClient.open(bridge)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://cart"]) == "ok")
    let rules = try CompiledPolicy([Policy.Rule("closed", .deny, ["router.*"])])
    try await bridge.sessionServer.applyPolicy(rules)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://cart"]) == "closed")
    try await bridge.sessionServer.applyPolicy(nil)
    #expect(try await client.callStatus("router.invoke", ["uri": "action://cart"]) == "ok")
  }

  @Test(
    "suggests a route only to callers that may list the routes",
    arguments: [
      (["router.*"], "No route matches \"action://ohter\"; did you mean \"action://other\"?"),
      (["router.invoke"], "No route matches \"action://ohter\""),
    ] as [([String], String)])
  func suggestsRoute(methods: [String], message: String) async throws {
    let (client, _) = try await WireClient.open(
      Self.bridge([Policy.Rule("all", .allow, methods)]))
    let response = try await client.request("router.invoke", ["uri": "action://ohter"])
    #expect(response["error"]?["message"]?.string == message)
  }

  @Test func hostActingForGuestIsLimitedByAll() {
    func rights(_ expires: Int64?, limitedBy: Rights? = nil) -> Rights {
      Rights(
        Caller(session: "s", identity: Identity(expires: expires)), nil, limitedBy: limitedBy)
    }
    let (inviter, caller) = (rights(10), rights(20))
    let both = rights(30, limitedBy: inviter).intersection(caller)
    #expect(both.expires == 10)
    #expect(both.areLimited(by: caller))
    #expect(!caller.areLimited(by: both) && !inviter.areLimited(by: inviter))
  }

  /// Copies for other loops, and rights that others limit, are checked with the caller as it is now.
  @Test func copiesFollowTheClient() throws {
    func caller(_ groups: Set<UTF8Key>, expires: Int64? = nil) -> Caller {
      Caller(session: "s", identity: Identity(user: "u", groups: groups, expires: expires))
    }
    let rules = try CompiledPolicy([Policy.Rule("staff", .allow, ["m"], groups: ["staff"])])
    let client = Rights(caller(["staff"], expires: 10), PolicySource(rules))
    let copy = client.followingCopy.transferred(to: PolicySource(rules))
    let limit = Rights(Caller(session: "s"), nil)
    let limited = limit.intersection(client)
    let limitedCopy = limited.followingCopy.transferred(to: PolicySource(rules))
    let all = [client, copy, limited, limitedCopy, client.intersection(limit)]
    for rights in all {
      try rights.authorize("m", .standard, at: 0)
      #expect(rights.expires == 10)
      #expect(rights.hasExpired(at: 10) && !rights.hasExpired(at: 9))
    }
    client.update(caller([], expires: 20))
    for rights in all {
      #expect(throws: CallError.self) { try rights.authorize("m", .standard, at: 0) }
      #expect(rights.expires == 20)
      #expect(!rights.hasExpired(at: 10))
    }
    client.update(caller(["staff"]))
    for rights in all {
      try rights.authorize("m", .standard, at: 0)
      #expect(!rights.hasExpired(at: 1000))
    }
    client.depart(isElsewhere: false)
    #expect(copy.outdatedCaller(at: 0) == nil)
    client.depart(isElsewhere: true)
    #expect(copy.outdatedCaller(at: 1001) != nil)
    client.revoke()
    for rights in all { #expect(rights.hasExpired(at: 0)) }
    #expect(client.followingCopy.hasExpired(at: 0))
    #expect(copy.outdatedCaller(at: 1001) == nil)
  }

  @Test func forgetsTheEarliestRevokedClients() {
    var revoked = RevokedClients()
    for number in 0...RevokedClients.limit { revoked.add("c-\(number)") }
    revoked.add("c-\(RevokedClients.limit)")
    #expect(!revoked.contains("c-0"))
    #expect(revoked.contains("c-1") && revoked.contains("c-\(RevokedClients.limit)"))
  }

  @Test func administrativeMethodNeedsPolicy() async throws {
    let (client, _) = try await WireClient.open(InMemoryBridge(Router()))
    let error = try await client.request("admin.versions")["error"]
    #expect(error?["data"]?["rule"] == "default")
    let message = error?["message"]?.string
    #expect(message?.hasPrefix("admin.versions is an administrative method;") == true)
  }

  @Test(
    arguments: [
      (Policy.Rule("r", .allow, ["*"], routes: ["native://a/:"]), "the pattern"),
      (Policy.Rule("r", .allow, ["*"], origins: ["example.org"]), "the origin"),
    ])
  func rejectsInvalidRuleByName(rule: Policy.Rule, reason: String) {
    let fault = #expect(throws: PolicyRuleError.self) { try CompiledPolicy([rule]) }
    #expect(fault?.description.hasPrefix("the rule \"r\": \(reason)") == true)
  }
}

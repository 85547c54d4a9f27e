import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Agents: which session they join, and what they may call there.
@Suite(.timeLimit(.minutes(1)))
struct AgentTests {
  private static let rules: [Policy.Rule] = [
    Policy.Rule("people", .allow, ["*"]),
    Policy.Rule(
      "desk", .allow, ["router.invoke", "router.canOpen"], agents: ["desk"],
      routes: ["add", "share", "private"]),
    Policy.Rule("each agent", .allow, ["router.invoke"], agents: ["*"], routes: ["time"]),
    Policy.Rule("staff only", .allow, ["router.invoke"], groups: ["staff"], agents: ["*"]),
    Policy.Rule("ben left", .deny, ["*"], subjects: ["ben"]),
  ]

  /// Returns a bridge. A token is `USER`, or `USER:PROGRAM` for a program's token.
  private func bridge(_ rules: [Policy.Rule]? = rules) throws -> InMemoryBridge {
    let router = Router()
    for name in ["add", "time", "delete", "private", "secret"] {
      try router.register(
        Route(
          name: name, patterns: [try RoutePattern("action://\(name)")], kind: .task,
          agents: name == "private" ? nil : RouteAgents(),
          handler: .task { call in
            call.caller.agent.map { $0.value(for: call.caller.identity.user) } ?? "no agent"
          }))
    }
    try router.register(
      Route(
        name: "share", patterns: [try RoutePattern("action://share")], kind: .task,
        agents: RouteAgents()))
    return InMemoryBridge(
      router,
      identify: { handshake in
        let parts = (handshake.token ?? "").split(separator: ":").map(String.init)
        return Identity(
          user: parts.first,
          claims: parts.count > 1 ? ["client_id": .string(parts[1])] : [:])
      }, rules: try rules.map { try CompiledPolicy($0) })
  }

  private func open(
    _ bridge: InMemoryBridge, _ token: String, hosts: Value = [], agent: Value? = nil
  ) async throws -> (client: WireClient, opened: Value) {
    var params: ValueObject = [
      "token": .string(token), "client": ["name": "helper", "version": "2"],
    ]
    if hosts != [] { params["hosts"] = hosts }
    params["agent"] = agent
    return try await WireClient.open(bridge, params)
  }

  private static let hosts: Value = [["scheme": "action", "kind": "task"]]

  @Test("joins the newest session of its user that serves the URI")
  func joinsNewestSession() async throws {
    let bridge = try bridge()
    let host = try await open(bridge, "anna", hosts: Self.hosts)
    try await bridge.server.advance(by: .milliseconds(10))
    let newest = try await open(bridge, "anna")
    let other = try await open(bridge, "cara", hosts: Self.hosts)
    let cases: [(agent: Value, expected: Value?)] = [
      ([:], newest.opened["session"]),
      (["uri": "action://share"], host.opened["session"]),
      (["uri": "action://add"], newest.opened["session"]),
      (["uri": "native://nobody"], newest.opened["session"]),
      (["session": host.opened["session"] ?? .null], host.opened["session"]),
    ]
    for (agent, expected) in cases {
      let (client, opened) = try await open(bridge, "anna:desk", agent: agent)
      #expect(opened["session"] == expected, "\(agent)")
      #expect(opened["guest"] == true)
      #expect(opened["joinToken"] == nil)
      try await client.close()
    }
    #expect(other.opened["session"] != nil)
  }

  @Test("fails if it names a session that is not its user's, or away")
  func refusesOtherSessions() async throws {
    let bridge = try bridge()
    let other = try await open(bridge, "ben")
    let away = try await open(bridge, "anna")
    try await away.client.close()
    for session in [other.opened["session"], away.opened["session"], "s-none"] {
      let client = try await WireClient.connect(
        to: bridge, subprotocol: Handshake.sessionSubprotocol)
      try await client.call(
        1, "session.open",
        ["token": "anna:desk", "agent": ["session": session ?? .null]])
      let error = try await client.response(1)["error"]
      #expect(error?["code"] == 2404)
      #expect(error?["data"]?["kind"] == "noSession")
    }
  }

  @Test(
    "rejects wrong members",
    arguments: [
      (["token": "anna", "agent": 1], -32602),
      (["token": "anna", "agent": ["uri": 1]], -32602),
      (["token": "anna", "agent": ["session": 1]], -32602),
      (["token": "anna", "agent": [:], "join": ["session": "s", "token": "t"]], -32602),
      (["agent": [:]], 2401),
      (["token": "anna", "agent": [:], "hosts": [["scheme": "a", "kind": "task"]]], 2403),
    ] as [(Value, Value)])
  func rejectsWrongMembers(params: Value, code: Value) async throws {
    let client = try await WireClient.connect(
      to: try bridge(), subprotocol: Handshake.sessionSubprotocol)
    try await client.call(1, "session.open", params)
    #expect(try await client.response(1)["error"]?["code"] == code)
  }

  @Test("without the app, its calls reach the server's own handlers")
  func getsSessionOfItsOwn() async throws {
    let bridge = try bridge()
    let (client, _) = try await open(bridge, "anna:desk", agent: ["uri": "action://share"])
    #expect(try await client.callStatus("router.invoke", ["uri": "action://add"]) == "ok")
    let share = try await client.request("router.invoke", ["uri": "action://share"])
    #expect(share["error"]?["code"] == 2504)
    // It is no session of the user's: nobody joins it, and no push reaches it.
    #expect(await bridge.sessionServer.dispatch.sessions(.user("anna")).isEmpty)
    let second = try await open(bridge, "anna:desk", agent: [:])
    #expect(try await second.client.callStatus("router.invoke", ["uri": "action://add"]) == "ok")
  }

  @Test(
    "may call what the table declares for agents and a rule for agents allows",
    arguments: [
      ("anna:desk", "router.invoke", "action://add", "ok"),
      ("anna:desk", "router.invoke", "action://time", "ok"),
      ("anna:desk", "router.invoke", "action://delete", "default"),
      ("anna:desk", "router.invoke", "action://private", "agents"),
      ("anna:desk", "router.invoke", "native://undeclared", "agents"),
      ("anna:desk", "router.deliver", "action://add", "agents"),
      ("anna:desk", "session.invite", nil, "agents"),
      ("anna:desk", "session.clients", nil, "agents"),
      ("anna:desk", "events.subscribe", nil, "agents"),
      ("anna:desk", "host.register", nil, "agents"),
      ("anna:desk", "navigation.back", nil, "agents"),
      ("anna:desk", "session.push", nil, "agents"),
      ("anna:other", "router.invoke", "action://add", "default"),
      ("anna:other", "router.invoke", "action://time", "ok"),
      ("anna", "router.invoke", "action://add", "default"),
      ("anna", "router.invoke", "action://time", "ok"),
      ("ben:desk", "router.invoke", "action://time", "ben left"),
    ] as [(String, String, String?, String)])
  func checksRights(token: String, method: String, uri: String?, verdict: String) async throws {
    let bridge = try bridge()
    _ = try await open(bridge, "anna", hosts: Self.hosts)
    let (client, _) = try await open(bridge, token, agent: [:])
    let params: Value = uri.map { ["uri": .string($0)] } ?? [:]
    #expect(try await client.callStatus(method, params) == verdict)
  }

  @Test("may call nothing without a policy")
  func needsRules() async throws {
    let bridge = try bridge(nil)
    let (client, _) = try await open(bridge, "anna:desk", agent: [:])
    #expect(try await client.callStatus("router.invoke", ["uri": "action://add"]) == "default")
  }

  @Test("people do not get the rights of agents")
  func rulesForAgentsApplyToAgentsOnly() async throws {
    let bridge = try bridge([
      Policy.Rule("agents", .allow, ["router.invoke"], agents: ["*"])
    ])
    let (client, _) = try await open(bridge, "anna:desk")
    #expect(try await client.callStatus("router.invoke", ["uri": "action://add"]) == "default")
  }

  @Test("handlers, hosts and the session's clients learn who calls")
  func isNamedToHandlersAndClients() async throws {
    let bridge = try bridge()
    let (shell, _) = try await open(bridge, "anna", hosts: Self.hosts)
    let (client, opened) = try await open(bridge, "anna:desk", agent: ["uri": "action://share"])
    let agent: Value = ["id": "desk", "name": "helper", "version": "2", "for": "anna"]
    let added = try await client.request("router.invoke", ["uri": "action://add"])
    #expect(added["result"] == agent)
    try await client.call(7, "router.invoke", ["uri": "action://share"])
    let run = try await shell.nextMessage()
    #expect(run["params"]?["caller"]?["agent"] == agent)
    #expect(run["params"]?["caller"]?["guest"] == true)
    try await shell.respond(run, 1)
    #expect(try await client.response(7)["result"] == 1)
    let clients = try await shell.request("session.clients", [:])["result"]?["clients"]?.array
    let entry = clients?.first { $0["client"] == opened["client"] }
    #expect(entry?["agent"] == agent)
  }

  @Test("a call that is repeated on another connection runs once, for its agent")
  func repeatedCallRunsOnce() async throws {
    let bridge = try bridge([
      Policy.Rule("agents", .allow, ["router.invoke"], agents: ["*"]),
      Policy.Rule("people", .allow, ["*"]),
    ])
    let (shell, _) = try await open(bridge, "anna", hosts: Self.hosts)
    let call: Value = ["uri": "action://share", "key": "k"]
    let (first, _) = try await open(bridge, "anna:desk", agent: ["uri": "action://share"])
    try await first.call(1, "router.invoke", call)
    let run = try await shell.nextMessage()
    try await shell.respond(run, "shared")
    #expect(try await first.response(1)["result"] == "shared")
    try await first.close()
    let (second, _) = try await open(bridge, "anna:desk", agent: ["uri": "action://share"])
    #expect(try await second.request("router.invoke", call)["result"] == "shared")
    let (other, _) = try await open(bridge, "anna:other", agent: ["uri": "action://share"])
    try await other.call(1, "router.invoke", call)
    let again = try await shell.nextMessage()
    #expect(again["id"] != run["id"])
    try await shell.respond(again, "again")
    #expect(try await other.response(1)["result"] == "again")
  }

  @Test("a rule for all routes does not open routes that are not for agents")
  func unselectiveRuleKeepsLimits() async throws {
    let bridge = try bridge([Policy.Rule("agents", .allow, ["router.*"], agents: ["*"])])
    try bridge.router.register(
      Route(
        name: "nested", patterns: [try RoutePattern("action://nested")], kind: .task,
        agents: RouteAgents(),
        handler: .asyncTask { call in try await call.navigator.invoke("action://private") }))
    let (client, _) = try await open(bridge, "anna:desk", agent: [:])
    for _ in 1...3 {
      #expect(try await client.callStatus("router.invoke", ["uri": "action://add"]) == "ok")
      #expect(
        try await client.callStatus("router.invoke", ["uri": "action://private"]) == "agents")
      #expect(try await client.callStatus("router.invoke", ["uri": "action://nested"]) == "agents")
    }
  }

  @Test(
    "a program that a rule names is an agent, whatever it says",
    arguments: [
      ("anna:desk", "router.invoke", "action://add", "ok"),
      ("anna:desk", "router.invoke", "action://private", "agents"),
      ("anna:desk", "router.deliver", "action://add", "agents"),
      ("anna:desk", "session.invite", nil, "agents"),
      ("anna:other", "router.invoke", "action://private", "ok"),
    ] as [(String, String, String?, String)])
  func namedProgramIsAgent(token: String, method: String, uri: String?, verdict: String)
    async throws
  {
    let (client, _) = try await open(try bridge(), token)
    #expect(try await client.callStatus(method, uri.map { ["uri": .string($0)] } ?? [:]) == verdict)
  }

  @Test("its own session ends with its connection")
  func ownSessionEnds() async throws {
    let bridge = try bridge()
    let (client, _) = try await open(bridge, "anna:desk", agent: [:])
    #expect(await bridge.sessionServer.totals().sessions == 1)
    try await client.close(.protocolError)
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }
}

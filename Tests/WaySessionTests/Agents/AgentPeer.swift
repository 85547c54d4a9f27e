import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// A bridge with routes for agents, and clients of its `POST /mcp`. A token is `USER` for a person,
/// and `USER:PROGRAM` for an agent.
struct AgentBridge {
  let bridge: InMemoryBridge
  let endpoint: AgentEndpoint

  static let rules: [Policy.Rule] = [
    Policy.Rule("people", .allow, ["*"]),
    Policy.Rule(
      "desk", .allow, ["router.invoke", "router.open"], agents: ["desk"],
      routes: ["add", "share", "pick", "item"]),
    Policy.Rule("no sharing at night", .deny, ["router.invoke"], agents: ["night"]),
    Policy.Rule("night", .allow, ["router.invoke"], agents: ["night"]),
  ]

  init(_ rules: [Policy.Rule]? = rules) throws {
    let router = Router()
    let parameters = [
      ParameterDeclaration("count", .integer, isRequired: true),
      ParameterDeclaration("note", .string),
    ]
    func register(
      _ name: String, _ pattern: String, _ kind: RouteKind = .task,
      agents: RouteAgents? = RouteAgents(),
      handler: RouteHandler = .hosted
    ) throws {
      try router.register(
        Route(
          name: name, patterns: [try RoutePattern(pattern)], kind: kind, purpose: "Does \(name).",
          parameters: name == "add" ? parameters : [], result: ValueSchema(.object), agents: agents,
          handler: handler))
    }
    let echo = RouteHandler.task { call in
      [
        "params": .object(call.params),
        "agent": call.caller.agent?.value(for: call.caller.identity.user) ?? .null,
      ]
    }
    try register("add", "action://add", handler: echo)
    try register("share", "action://share")
    try register("pick", "native://pick", .page)
    try register("delete", "action://delete", handler: echo)
    try register("item", "action://item/:id", handler: echo)
    try register("secret", "action://item/secret", agents: nil, handler: echo)
    bridge = InMemoryBridge(
      router,
      identify: { handshake in
        let parts = (handshake.token ?? "").split(separator: ":").map(String.init)
        if parts.first == "wrong" { throw CallError(code: 1, message: "unknown") }
        return Identity(
          user: parts.first, claims: parts.count > 1 ? ["client_id": .string(parts[1])] : [:])
      }, rules: try rules.map { try CompiledPolicy($0) })
    endpoint = AgentEndpoint(bridge.sessionServer)
  }

  /// Opens a session of a person's app, which hosts all.
  func openApp(_ user: String) async throws -> (client: WireClient, opened: Value) {
    try await WireClient.open(
      bridge,
      [
        "token": .string(user), "client": ["name": "app"],
        "hosts": [
          ["scheme": "action", "kind": "task"], ["scheme": "native", "kind": "page"],
        ],
      ])
  }

  /// Sends a POST.
  func post(
    _ body: String, token: String?, fields: [(name: String, value: String)] = []
  ) -> MemoryHTTPExchange {
    let request = HTTPRequest(
      method: "POST", path: "/mcp", handshake: Handshake(token: token),
      fields: fields + [("content-type", "application/json")])
    return MemoryHTTPExchange(
      request, body: Array(body.utf8),
      to: { [endpoint, bridge] request in
        .readBody(
          HTTPBodyHandler(contentType: "application/json", limit: 1 << 20) { body, respond in
            endpoint.respond(to: body, of: request, on: bridge.server.loop, respond)
          })
      }, on: bridge.server.loop)
  }

  /// Sends a request of the stateless revision.
  func send(
    _ method: String, _ params: ValueObject = [:], token: String? = "anna:desk",
    meta: ValueObject = [:],
    accept: String = "application/json, text/event-stream"
  ) throws -> MemoryHTTPExchange {
    var members: ValueObject = [
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": [:],
      "io.modelcontextprotocol/clientInfo": ["name": "helper", "version": "2"],
    ]
    members.merge(meta)
    var params = params
    params["_meta"] = .object(members)
    var fields = [
      (name: "mcp-protocol-version", value: "2026-07-28"), (name: "mcp-method", value: method),
      (name: "accept", value: accept),
    ]
    if let name = params["name"]?.string { fields.append((name: "mcp-name", value: name)) }
    let body = try JSON.text(
      ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params)])
    return post(body, token: token, fields: fields)
  }

  /// Sends a call of a tool, and returns the result.
  func call(
    _ name: String, _ arguments: ValueObject = [:], token: String = "anna:desk"
  ) async throws -> Value {
    let exchange = try send(
      "tools/call", ["name": .string(name), "arguments": .object(arguments)], token: token)
    return try #require(try await exchange.response().json?["result"])
  }
}

extension MemoryHTTPExchange {
  /// Receives the response.
  func response() async throws -> HTTPResponse {
    guard case .response(let response) = try await events.receive() else { throw NoResponse() }
    return response
  }

  /// Receives the message of the next event of a stream.
  func message() async throws -> Value {
    guard case .part(let part) = try await events.receive() else { throw NoResponse() }
    let lines = String(decoding: part, as: UTF8.self).split(separator: "\n")
    guard lines.count == 2, lines[0] == "event: message" else { throw NoResponse() }
    return try JSON.parse(String(lines[1].dropFirst("data: ".count)))
  }

  /// Receives the end of a stream.
  func end() async throws -> HTTPStreamEnd {
    guard case .end(let end) = try await events.receive() else { throw NoResponse() }
    return end
  }

  private struct NoResponse: Error {}
}

extension HTTPResponse {
  /// The body as JSON; nil if it is none.
  var json: Value? { try? JSON.parse(body.span.bytes) }
}

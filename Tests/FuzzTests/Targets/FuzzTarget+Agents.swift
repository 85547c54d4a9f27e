import WayAgents
import WayPatterns
import WayRPC
import WayRouting
import WayValues

extension FuzzTarget {
  /// Requests of AI agents: header fields, one a line, an empty line, and a body. Each is rejected with
  /// an error that can be written, or read; a call leads to a URI of its tool's scheme, or is refused;
  /// and each response is JSON.
  static let agentRequests = FuzzTarget("agent-requests") { bytes throws(FuzzFailure) in
    let text = bytes.text
    let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
    let fields = (parts.first ?? "").split(separator: "\n").map { line in
      let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(field[0]).lowercased(), value: field.count > 1 ? String(field[1]) : "")
    }
    let body = Array((parts.count > 1 ? parts[1] : "").utf8)
    let incoming: MCPBody
    do throws(MCPRejection) {
      incoming = try MCPBody(body.span.bytes, MCPRequestHead(fields))
    } catch {
      try FuzzFailure.unless(
        [200, 400, 404].contains(error.status), "the status is \(error.status)")
      return try checkMessage(error.body)
    }
    guard case .request(let request) = incoming else { return }
    let context = MCPResponseContext(
      request, from: MCPImplementation(name: "fuzz", version: "1"))
    switch request.operation {
    case .callTool(let call): try check(call, context)
    case .listTools(let cursor):
      if let page = try? context.page(of: AgentToolList(fuzzedTools.tools), after: cursor) {
        try checkMessage(page.bytes)
      }
    case .initialize, .ping, .discover, .listen: try checkMessage(context.pong.bytes)
    }
  }

  private static func check(
    _ call: MCPToolCall, _ context: MCPResponseContext
  ) throws(FuzzFailure) {
    for tool in fuzzedTools.tools {
      if let made = try? tool.call(call) {
        try FuzzFailure.unless(made.uri.scheme == "action", "it leads to \(made.uri.text)")
      }
      try checkMessage(context.result(.success(.object(call.arguments)), of: tool).bytes)
    }
    let error = CallError(
      code: 1, message: call.name, data: .object(call.arguments))
    try checkMessage(context.failure(error).bytes)
    if let tool = fuzzedTools.tools.first {
      let many = AgentToolList(Array(repeating: tool, count: 41))
      if let found = context.search(many, call) { try checkMessage(found.bytes) }
    }
    var progress = MCPProgress(.string("p"))
    for member in call.arguments.members {
      if let message = progress.notification(of: member.value) { try checkMessage(message.bytes) }
    }
  }

  private static func checkMessage(_ bytes: [UInt8]) throws(FuzzFailure) {
    let message = try? JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth)
    try FuzzFailure.unless(message?["jsonrpc"] == "2.0", "a response is no message: \(bytes.text)")
    try FuzzFailure.unless(!bytes.contains(0x0A), "a response has a line break: \(bytes.text)")
  }

  /// The tools that requests are about.
  private static let fuzzedTools: AgentToolTable = {
    let router = Router()
    let patterns = ["action://show/:id(/part/:part)/*", "action://list"]
    for (number, text) in patterns.enumerated() {
      guard let pattern = try? RoutePattern(text) else { continue }
      _ = try? router.register(
        Route(
          name: "tool\(number)", patterns: [pattern], kind: .task,
          parameters: [ParameterDeclaration("id", .integer)], agents: RouteAgents()))
    }
    return AgentToolTable(router.snapshot())
  }()
}

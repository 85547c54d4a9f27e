import WayRPC
import WayValues

@testable import WayAgents

/// A POST as a table of tests writes it: header fields, one a line, and a body in which `META` stands
/// for the members that the stateless revision needs.
struct TestPost {
  static let meta = #"""
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}
    """#

  let fields: [(name: String, value: String)]
  let body: [UInt8]

  init(_ head: String, _ body: String) {
    fields = head.split(separator: "\n").map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (parts[0].lowercased(), String(parts.count > 1 ? parts[1] : ""))
    }
    self.body = Array(body.replacing("META", with: Self.meta).utf8)
  }

  /// What the body contains, or the rejection.
  func read() -> Result<MCPBody, MCPRejection> {
    Result { () throws(MCPRejection) in
      try MCPBody(body.span.bytes, MCPRequestHead(fields))
    }
  }

  /// The request. Fails the test for anything else.
  func request() throws -> MCPRequest {
    guard case .request(let request) = try read().get() else { throw NoRequest() }
    return request
  }

  private struct NoRequest: Error {}

  /// A valid request of the stateless revision.
  static func stateless(_ method: String, _ params: String = "", name: String? = nil) -> TestPost {
    TestPost(
      """
      MCP-Protocol-Version: 2026-07-28
      Mcp-Method: \(method)
      \(name.map { "Mcp-Name: \($0)" } ?? "X: y")
      """,
      #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)META}}"#)
  }
}

extension MCPMessage {
  /// The message as a value; `nil` if it is no JSON, or has a line break.
  var value: Value? {
    bytes.contains(0x0A) ? nil : try? JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth)
  }
}

import WayRPC
import WayValues

/// The error with which a request is rejected as a whole, and the HTTP status of the response.
package struct MCPRejection: Error, Sendable, Hashable {
  /// The HTTP status.
  package let status: Int
  /// The id of the request; `nil` if it could not be read.
  package var id: RequestID?
  /// The error of the response.
  package let error: CallError

  /// Creates a rejection.
  package init(status: Int, id: RequestID? = nil, _ error: CallError) {
    self.status = status
    self.id = id
    self.error = error
  }

  private init(_ code: MCPErrorCode, status: Int = 400, _ message: String, data: Value? = nil) {
    self.init(
      status: status, CallError(code: code.rawValue, message: message, data: data))
  }

  /// The codes that the protocol adds to those of JSON-RPC.
  private enum MCPErrorCode: Int {
    case parseError = -32700
    case invalidRequest = -32600
    case methodNotFound = -32601
    case invalidParams = -32602
    case headerMismatch = -32020
    case unsupportedVersion = -32022
  }

  /// The body is no JSON.
  static func parseError(_ message: String) -> MCPRejection { .init(.parseError, message) }

  /// The body is no request and no notification.
  static func invalidRequest(_ message: String) -> MCPRejection { .init(.invalidRequest, message) }

  /// The params do not fit the method.
  package static func invalidParams(_ message: String) -> MCPRejection {
    .init(.invalidParams, message)
  }

  /// The server does not offer the method.
  static func methodNotFound(_ method: String) -> MCPRejection {
    .init(.methodNotFound, status: 404, "there is no method \"\(method.brief)\"")
  }

  /// A header field is missing, or differs from the body.
  static func headerMismatch(_ message: String) -> MCPRejection { .init(.headerMismatch, message) }

  /// The server does not speak the revision that the client asks for.
  static func unsupportedVersion(_ requested: String) -> MCPRejection {
    .init(
      .unsupportedVersion, "the server does not speak the revision \"\(requested.brief)\"",
      data: [
        "supported": ["\(MCPRevision.stateless.rawValue)"], "requested": "\(requested.brief)",
      ])
  }

  /// The client accepts none of the media types of the response.
  package static func notAcceptable(_ type: String) -> MCPRejection {
    .init(.invalidRequest, status: 406, "the response is \(type); accept it")
  }

  /// No tool has the name.
  package static func unknownTool(_ name: String) -> MCPRejection {
    .invalidParams("Unknown tool: \(name.brief)")
  }

  /// The rejection with the id of the request. Clients of the handshake's revision read errors only
  /// from responses of the status 200.
  func of(_ id: RequestID, _ revision: MCPRevision) -> MCPRejection {
    MCPRejection(status: revision == .handshake ? 200 : status, id: id, error)
  }

  /// The response as JSON.
  package var body: [UInt8] { MCPMessage(error, of: id).bytes }
}

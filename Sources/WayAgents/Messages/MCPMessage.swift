import WayRPC
import WayValues

/// A message to a client, as JSON without line breaks.
package struct MCPMessage: Sendable {
  /// The message's UTF-8.
  package let bytes: [UInt8]

  /// Writes a response with a result.
  init(_ result: some Encodable, of id: RequestID) {
    bytes =
      Self.text(of: ResultEnvelope(id: id, result: result))
      ?? MCPMessage(CallError(.internal, "The result cannot be encoded"), of: id).bytes
  }

  /// Writes a response with an error; without an id if that of the request could not be read.
  package init(_ error: CallError, of id: RequestID?) {
    let body = ErrorBody(code: error.code, message: error.message, data: error.data)
    let bare = ErrorBody(code: error.code, message: error.message, data: nil)
    bytes =
      Self.text(of: ErrorEnvelope(id: id, error: body))
      ?? Self.text(of: ErrorEnvelope(id: id, error: bare)) ?? []
  }

  /// Writes a notification.
  init(_ method: String, _ params: some Encodable) {
    bytes = Self.text(of: NotificationEnvelope(method: method, params: params)) ?? []
  }

  /// The message as a server-sent event.
  package var event: [UInt8] { Array("event: message\ndata: ".utf8) + bytes + Array("\n\n".utf8) }

  /// Returns JSON; `nil` if it nests too deep.
  private static func text(of message: some Encodable) -> [UInt8]? {
    var writer = JSONWriter()
    guard let value = try? ValueEncoder().encode(message),
      (try? writer.write(value, maxDepth: JSON.maxStoredDepth)) != nil
    else { return nil }
    return writer.bytes
  }

  private struct ResultEnvelope<Content: Encodable>: Encodable {
    var jsonrpc = "2.0"
    let id: RequestID
    let result: Content
  }

  private struct ErrorEnvelope: Encodable {
    var jsonrpc = "2.0"
    let id: RequestID?
    let error: ErrorBody
  }

  private struct ErrorBody: Encodable {
    let code: Int
    let message: String
    let data: Value?
  }

  private struct NotificationEnvelope<Content: Encodable>: Encodable {
    var jsonrpc = "2.0"
    let method: String
    let params: Content
  }
}

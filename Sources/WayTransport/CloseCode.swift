/// A WebSocket close code (RFC 6455 §7.4): the standard codes that Waybridge sends, and its own.
///
/// Codes 40xx are terminal. After 41xx a client backs off and opens a new session. After 42xx it
/// reconnects and resumes.
package struct CloseCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let normal = CloseCode(rawValue: 1000)
  package static let protocolError = CloseCode(rawValue: 1002)
  package static let unsupportedData = CloseCode(rawValue: 1003)
  /// The reason sent with ``unsupportedData``.
  package static let notText = "Binary messages are not supported; send JSON-RPC as text"
  package static let invalidPayload = CloseCode(rawValue: 1007)
  /// The reason sent with ``invalidPayload``.
  package static let notUTF8 = "the text is not UTF-8"
  package static let messageTooBig = CloseCode(rawValue: 1009)
  /// The messages are not JSON-RPC.
  package static let notJSONRPC = CloseCode(rawValue: 4000)
  /// The client has not authenticated.
  package static let notAuthenticated = CloseCode(rawValue: 4001)
  /// An administrator has removed the client.
  package static let forbidden = CloseCode(rawValue: 4003)
  /// The peers have no common protocol version.
  package static let version = CloseCode(rawValue: 4006)
  /// Another connection has resumed the session of the client.
  package static let takenOver = CloseCode(rawValue: 4009)
  /// The client has exceeded a limit repeatedly, such as with too many invalid tokens.
  package static let tooMany = CloseCode(rawValue: 4029)
  /// The server has reached its limit of connections or sessions.
  package static let overloaded = CloseCode(rawValue: 4100)
  /// The client did not send `session.open` in time.
  package static let noHello = CloseCode(rawValue: 4101)
  /// The server is ending. The client should reconnect later.
  package static let drain = CloseCode(rawValue: 4200)
  /// The client's unsent data has exceeded its limit.
  package static let slowConsumer = CloseCode(rawValue: 4201)
  /// The peer did not respond to a ping.
  package static let noPong = CloseCode(rawValue: 4202)

  /// The token of the client has expired. The client should reconnect with a new one.
  package static let renewal = CloseCode(rawValue: 4203)

  /// A message is missing in the sequence.
  package static let gap = CloseCode(rawValue: 4204)

  /// Whether the code is allowed in a close frame (RFC 6455 §7.4): registered, or for applications.
  package var isSendable: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// Waybridge's own codes that are sent.
  package static let own: Set<CloseCode> = [
    notJSONRPC, notAuthenticated, forbidden, version, takenOver, tooMany, overloaded, noHello,
    drain,
    slowConsumer,
    noPong, renewal, gap,
  ]
}

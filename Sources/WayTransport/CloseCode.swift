/// A WebSocket close code (RFC 6455 §7.4): the standard ones that Waybridge sends, and its own.
///
/// 40xx are terminal, after 41xx a client backs off and opens anew, after 42xx it reconnects and
/// resumes.
package struct CloseCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let normal = CloseCode(rawValue: 1000)
  package static let protocolError = CloseCode(rawValue: 1002)
  package static let unsupportedData = CloseCode(rawValue: 1003)
  package static let invalidPayload = CloseCode(rawValue: 1007)
  /// The reason that goes with ``invalidPayload``.
  package static let notUTF8 = "the text is not UTF-8"
  package static let messageTooBig = CloseCode(rawValue: 1009)
  /// The messages are not JSON-RPC.
  package static let notJSONRPC = CloseCode(rawValue: 4000)
  /// The client has not shown who it is.
  package static let notAuthenticated = CloseCode(rawValue: 4001)
  /// No common protocol version.
  package static let version = CloseCode(rawValue: 4006)
  /// Another connection has resumed the client.
  package static let takenOver = CloseCode(rawValue: 4009)
  /// A limit was broken again and again: too many wrong tokens.
  package static let tooMany = CloseCode(rawValue: 4029)
  /// More connections or sessions than the server takes.
  package static let overloaded = CloseCode(rawValue: 4100)
  /// No `session.open` in time.
  package static let noHello = CloseCode(rawValue: 4101)
  /// The server is ending; connect again later.
  package static let drain = CloseCode(rawValue: 4200)
  /// What waits to be sent to the client has outgrown its limit.
  package static let slowConsumer = CloseCode(rawValue: 4201)
  /// A ping was not answered.
  package static let noPong = CloseCode(rawValue: 4202)

  /// The token of the client has expired; connect again with a new one.
  package static let renewal = CloseCode(rawValue: 4203)

  /// A message is missing between two.
  package static let gap = CloseCode(rawValue: 4204)

  /// Whether it may stand in a close frame (RFC 6455 §7.4): registered, or left to applications.
  package var maySend: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// Those of Waybridge's own that are sent.
  package static let own: Set<CloseCode> = [
    notJSONRPC, notAuthenticated, version, takenOver, tooMany, overloaded, noHello, drain,
    slowConsumer,
    noPong, renewal, gap,
  ]
}

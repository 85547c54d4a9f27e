import Glibc

/// An error in setting up a socket, a server or a loop, with a description for the operator.
package struct SocketError: Error, Hashable, CustomStringConvertible {
  package enum SocketErrorKind: Hashable, Sendable {
    /// The configuration or the address is invalid.
    case invalid
    /// Another socket uses the address.
    case addressInUse
    /// The system or the library reported an error.
    case system
    /// The peer did not respond in time.
    case timeout
    /// The peer rejected the handshake, with this HTTP status if it sent one.
    case rejected(status: Int?)
    /// The loop or the server has ended.
    case ended
  }

  package var kind: SocketErrorKind
  package var description: String

  package init(_ kind: SocketErrorKind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// `what`, followed by the C library's text for an error number (strerror).
  static func errno(_ what: String, _ code: Int32) -> SocketError {
    SocketError(.system, "\(what): \(String(cString: strerror(code)))")
  }
}

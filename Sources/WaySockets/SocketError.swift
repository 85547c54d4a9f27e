import Glibc

/// Why a socket, a server or a loop could not be set up, in words for the person who runs it.
package struct SocketError: Error, Hashable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The configuration or the address cannot be used as it stands.
    case invalid
    /// Another socket holds the address.
    case addressInUse
    /// The system or the library refused.
    case system
    /// Nobody answered in time.
    case timeout
    /// The peer answered the handshake with this HTTP status, where it gave one.
    case refused(status: Int?)
    /// The loop or the server has ended.
    case ended
  }

  package var kind: Kind
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// `what` and the text of the C library's current error number (strerror).
  static func errno(_ what: String, _ code: Int32) -> SocketError {
    SocketError(.system, "\(what): \(String(cString: strerror(code)))")
  }
}

/// The address that a server listens on.
package struct SocketListenAddress: Hashable, Sendable {
  /// The host as in a URL, an IPv6 address in brackets; `localhost` for both loopback addresses, and
  /// for a Unix socket.
  package let host: String
  /// The actual port; 0 for a Unix socket.
  package let port: Int
  /// The absolute path of the Unix socket; `nil` over TCP.
  package let unixPath: String?

  /// The address of a server that does not listen yet.
  static let none = SocketListenAddress(host: "localhost", port: 0)

  init(host: String, port: Int) {
    self.host = host
    self.port = port
    unixPath = nil
  }

  init(unixPath: String) {
    host = "localhost"
    port = 0
    self.unixPath = unixPath
  }
}

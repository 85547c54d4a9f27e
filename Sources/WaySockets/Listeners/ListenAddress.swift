/// Where a server listens.
package struct ListenAddress: Hashable, Sendable {
  /// The address as a URL has it, an IPv6 address in brackets; `localhost` for a Unix socket.
  package let host: String
  /// The port that was taken; 0 for a Unix socket.
  package let port: Int
  /// The path of the Unix socket from the root on; nil over TCP.
  package let unixPath: String?

  /// Of a server that does not listen yet.
  static let none = ListenAddress(host: "localhost", port: 0)

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

import WayTransport

/// The remote end of a connection, as the system reports it.
enum SocketPeer: Hashable, Sendable {
  /// A program that connected over a Unix socket.
  case unix
  case address(IPAddress)

  /// Whether it is a local program.
  var isLocal: Bool {
    switch self {
    case .unix: true
    case .address(let address): address.isLoopback
    }
  }

  /// The text in a ``Handshake``, and the value of `--trusted-proxy`.
  var text: String {
    switch self {
    case .unix: "unix"
    case .address(let address): address.description
    }
  }
}

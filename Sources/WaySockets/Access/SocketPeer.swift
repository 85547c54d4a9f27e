import WayTransport

/// The other end of a connection, as the system knows it.
enum SocketPeer: Hashable, Sendable {
  /// A program that came by a Unix socket.
  case unix
  case address(IPAddress)

  /// Whether it is a program of this machine.
  var isLocal: Bool {
    switch self {
    case .unix: true
    case .address(let address): address.isLoopback
    }
  }

  /// As a ``Handshake`` tells it, and as `--trusted-proxy` takes it.
  var text: String {
    switch self {
    case .unix: "unix"
    case .address(let address): address.description
    }
  }
}

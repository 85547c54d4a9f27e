import Glibc
import WayTransport

/// The listening sockets of a server, all at the same port.
///
/// There is one, except for `localhost`. Some clients connect to `127.0.0.1` for this name and
/// others to `::1`, so that each of these addresses has a socket.
struct ListenSockets {
  /// At least one.
  let all: [ListenSocket]
  /// The address for clients.
  let address: SocketListenAddress

  /// The addresses of `localhost`. The name is not looked up, because browsers do not look it up
  /// either (RFC 6761 §6.3).
  private static let loopbackHosts = ["127.0.0.1", "::1"]
  /// Number of ports to try until one is free at every address.
  private static let maximumAttempts = 32

  /// Adopts the inherited socket if there is one. Else binds to the configured Unix socket or to
  /// TCP, and listens.
  ///
  /// - Parameter isPresent: Whether the machine has a loopback address. The server skips one that
  ///   it does not have, such as `::1` without IPv6.
  init(
    _ configuration: SocketServerConfiguration,
    isPresent: (_ host: String) -> Bool = ListenSockets.isPresent
  ) throws(SocketError) {
    if let descriptor = configuration.descriptor {
      all = [
        try ListenSocket(
          handedOver: descriptor, allowsRemoteClients: configuration.allowsRemoteClients)
      ]
    } else if let path = configuration.network.unixPath {
      all = [try ListenSocket(unixPath: path)]
    } else if configuration.network.host == "localhost" {
      let present = Self.loopbackHosts.filter { isPresent($0) }
      all = try Self.listen(
        on: present.isEmpty ? Self.loopbackHosts : present, port: configuration.network.port)
    } else {
      all = [
        try ListenSocket(
          host: configuration.network.host, port: configuration.network.port,
          allowsRemoteClients: configuration.allowsRemoteClients)
      ]
    }
    // A client that resolves the name to an address without a socket could reach another program.
    address =
      all.count == 1
      ? all[0].address : SocketListenAddress(host: "localhost", port: all[0].address.port)
  }

  /// Listens on each of the addresses at the same port. If `port` is 0, at any port that is free
  /// at all of them.
  private static func listen(on hosts: [String], port: Int) throws(SocketError) -> [ListenSocket] {
    for _ in 1..<maximumAttempts where port == 0 {
      do throws(SocketError) {
        return try bind(hosts, port: port)
      } catch {
        // The port that is free at the first address is in use at the other one.
        guard error.kind == .addressInUse else { throw error }
      }
    }
    return try bind(hosts, port: port)
  }

  private static func bind(_ hosts: [String], port: Int) throws(SocketError) -> [ListenSocket] {
    var sockets: [ListenSocket] = []
    do throws(SocketError) {
      for host in hosts {
        sockets.append(try ListenSocket(host: host, port: sockets.first?.address.port ?? port))
      }
    } catch {
      for socket in sockets { socket.close() }
      throw error
    }
    return sockets
  }

  /// Whether the machine has an address. If that cannot be determined, the server reports the
  /// reason when it listens.
  static func isPresent(_ host: String) -> Bool {
    guard let address = IPAddress(host) else { return false }
    let descriptor = socket(
      address.isIPv6 ? AF_INET6 : AF_INET,
      Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
    defer { close(descriptor) }
    var requested = SystemSocketAddress(address, port: 0)
    return requested.withPointer { Glibc.bind(descriptor, $0, $1) } == 0 || errno != EADDRNOTAVAIL
  }
}

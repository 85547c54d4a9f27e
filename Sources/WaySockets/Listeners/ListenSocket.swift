import Glibc
import WayTransport

/// A socket that accepts connections.
struct ListenSocket {
  let descriptor: Int32
  let address: SocketListenAddress
  /// The file of a Unix socket that this process created.
  private let file: UnixSocketFile?

  /// Listens on TCP at one address. Port 0 selects any free port. ``ListenSockets`` accepts
  /// `localhost`.
  ///
  /// - Parameter allowsRemoteClients: Whether addresses that other machines can reach are
  ///   allowed.
  init(host: String, port: Int, allowsRemoteClients: Bool = false) throws(SocketError) {
    guard (0...65_535).contains(port) else {
      throw SocketError(.invalid, "port \(port) is not between 0 and 65535")
    }
    let isInBrackets = host.hasPrefix("[") && host.hasSuffix("]")
    let address = IPAddress(isInBrackets ? String(host.dropFirst().dropLast()) : host)
    guard let address, allowsRemoteClients || ["127.0.0.1", "::1"].contains(address.description)
    else {
      throw SocketError(
        .invalid,
        allowsRemoteClients
          ? "cannot listen on \(host): it is neither an IPv4 or IPv6 address nor localhost"
          : "cannot listen on \(host): only 127.0.0.1, localhost and ::1 are allowed, so that no "
            + "other machine can connect"
      )
    }
    let shown = address.isIPv6 ? "[\(address)]" : address.description
    descriptor = try Self.open(
      address.isIPv6 ? AF_INET6 : AF_INET, "cannot listen on \(shown):\(port)")
    file = nil
    do {
      let boundPort = try Self.bind(descriptor, address, shown: shown, port: port)
      self.address = SocketListenAddress(host: shown, port: boundPort)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  init(unixPath: String) throws(SocketError) {
    descriptor = try Self.open(AF_UNIX, "socket")
    do {
      let file = try UnixSocketFile(binding: descriptor, to: unixPath)
      self.file = file
      address = SocketListenAddress(unixPath: file.path)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Adopts a socket that already listens. The file of such a Unix socket belongs to another
  /// program and is not removed.
  init(handedOver descriptor: Int32, allowsRemoteClients: Bool) throws(SocketError) {
    let name = "the socket that the server inherited (descriptor \(descriptor))"
    guard try Self.option(SO_TYPE, of: descriptor, name) == Int32(SOCK_STREAM.rawValue),
      try Self.option(SO_ACCEPTCONN, of: descriptor, name) == 1
    else { throw SocketError(.invalid, "\(name) is not a listening stream socket") }
    var actual = SystemSocketAddress()
    guard actual.read(by: { getsockname(descriptor, $0, $1) }) == 0 else {
      throw SocketError.errno("getsockname", errno)
    }
    if let path = actual.unixPath {
      address = SocketListenAddress(unixPath: path)
    } else if let bound = actual.address {
      guard allowsRemoteClients || ["127.0.0.1", "::1"].contains(bound.description) else {
        throw SocketError(
          .invalid,
          "\(name) listens on \(bound): only 127.0.0.1 and ::1 are allowed, so that no other machine "
            + "can connect")
      }
      let shown = bound.isIPv6 ? "[\(bound)]" : bound.description
      address = SocketListenAddress(host: shown, port: Int(actual.port))
    } else {
      throw SocketError(.invalid, "\(name) is neither a TCP socket nor a Unix socket with a path")
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.descriptor = descriptor
    file = nil
  }

  private static func option(
    _ option: Int32, of descriptor: Int32, _ name: String
  ) throws(SocketError) -> Int32 {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 else {
      throw SocketError.errno("\(name) cannot be used", errno)
    }
    return value
  }

  /// `purpose` begins the text of the error.
  private static func open(_ family: Int32, _ purpose: String) throws(SocketError) -> Int32 {
    let descriptor = socket(
      family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError.errno(purpose, errno) }
    return descriptor
  }

  /// Binds and listens. Returns the port from getsockname, which also confirms the bound address.
  private static func bind(
    _ descriptor: Int32, _ address: IPAddress, shown: String, port: Int
  ) throws(SocketError) -> Int {
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    if address.isIPv6 {
      // `::` also accepts IPv4 clients, whatever the system's default is (ipv6(7)).
      var isIPv6Only: Int32 = address.bytes.allSatisfy { $0 == 0 } ? 0 : 1
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isIPv6Only, size)
    }
    var requested = SystemSocketAddress(address, port: UInt16(port))
    let bound = requested.withPointer { Glibc.bind(descriptor, $0, $1) }
    if bound != 0, errno == EADDRINUSE {
      throw SocketError(.addressInUse, "\(shown):\(port) is in use by another program")
    }
    guard bound == 0 else {
      throw SocketError.errno("cannot listen on \(shown):\(port)", errno)
    }
    guard listen(descriptor, 1024) == 0 else {
      if errno == EADDRINUSE {
        throw SocketError(.addressInUse, "\(shown):\(port) is in use by another program")
      }
      throw SocketError.errno("listen", errno)
    }
    var actual = SystemSocketAddress()
    guard actual.read(by: { getsockname(descriptor, $0, $1) }) == 0, actual.address == address
    else {
      throw SocketError(.system, "the socket is not bound to \(shown); the server does not start")
    }
    return Int(actual.port)
  }

  /// The next pending connection, non-blocking and without Nagle's delay, and its peer.
  func accept() -> Result<(Int32, SocketPeer), AcceptFailure> {
    var peer = SystemSocketAddress()
    let accepted = peer.read { Glibc.accept(descriptor, $0, $1) }
    if accepted >= 0 {
      _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
      _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
      if address.unixPath != nil { return .success((accepted, .unix)) }
      guard let address = peer.address else {
        Glibc.close(accepted)
        return .failure(.aborted)
      }
      var yes: Int32 = 1
      setsockopt(
        accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      return .success((accepted, .address(address)))
    }
    switch errno {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .failure(.exhausted)
    case EAGAIN: return .failure(.wouldBlock)
    default: return .failure(.aborted)
    }
  }

  /// Stops listening. Call it once.
  func close() {
    file?.remove()
    Glibc.close(descriptor)
  }

  enum AcceptFailure: Error {
    case wouldBlock
    /// The connection was closed before it was accepted.
    case aborted
    /// The process or the machine has no free descriptor.
    case exhausted
  }
}

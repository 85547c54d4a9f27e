import Glibc
import WayTransport

/// A socket that takes connections.
struct ListenSocket {
  let descriptor: Int32
  let address: ListenAddress
  /// The file of a Unix socket that was made here.
  private let file: UnixSocketFile?

  /// Takes the socket that was handed over, else binds to the Unix socket that is asked for, else to
  /// TCP, and listens.
  init(_ configuration: SocketServerConfiguration) throws(SocketError) {
    if let descriptor = configuration.descriptor {
      try self.init(handedOver: descriptor, allowsOthers: configuration.allowsOthers)
    } else if let path = configuration.unixPath {
      try self.init(unixPath: path)
    } else {
      try self.init(
        host: configuration.host, port: configuration.port, allowsOthers: configuration.allowsOthers
      )
    }
  }

  /// Port 0 takes any that is free.
  ///
  /// - Parameter allowsOthers: whether addresses are taken by which other machines get in.
  init(host: String, port: Int, allowsOthers: Bool = false) throws(SocketError) {
    guard (0...65_535).contains(port) else {
      throw SocketError(.invalid, "port \(port) is not between 0 and 65535")
    }
    let name = host == "localhost" ? "127.0.0.1" : host
    let isInBrackets = name.hasPrefix("[") && name.hasSuffix("]")
    let address = IPAddress(isInBrackets ? String(name.dropFirst().dropLast()) : name)
    guard let address, allowsOthers || ["127.0.0.1", "::1"].contains(address.description) else {
      throw SocketError(
        .invalid,
        allowsOthers
          ? "cannot listen on \(host): it is no IPv4 or IPv6 address, nor localhost"
          : "cannot listen on \(host): only 127.0.0.1, localhost and ::1 are allowed, so that no "
            + "other machine gets in"
      )
    }
    let shown = address.isIPv6 ? "[\(address)]" : address.description
    descriptor = try Self.open(address.isIPv6 ? AF_INET6 : AF_INET)
    file = nil
    do {
      let taken = try Self.bind(descriptor, address, shown: shown, port: port)
      self.address = ListenAddress(host: shown, port: taken)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  init(unixPath: String) throws(SocketError) {
    descriptor = try Self.open(AF_UNIX)
    do {
      let file = try UnixSocketFile(binding: descriptor, to: unixPath)
      self.file = file
      address = ListenAddress(unixPath: file.path)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Takes a socket that listens already; the file of a Unix socket is not this server's to remove.
  init(handedOver descriptor: Int32, allowsOthers: Bool) throws(SocketError) {
    let name = "the socket that was handed over (descriptor \(descriptor))"
    guard try Self.option(SO_TYPE, of: descriptor, name) == Int32(SOCK_STREAM.rawValue),
      try Self.option(SO_ACCEPTCONN, of: descriptor, name) == 1
    else { throw SocketError(.invalid, "\(name) is no stream socket that listens") }
    var actual = SystemSocketAddress()
    guard actual.read(by: { getsockname(descriptor, $0, $1) }) == 0 else {
      throw SocketError.errno("getsockname", errno)
    }
    if let path = actual.unixPath {
      address = ListenAddress(unixPath: path)
    } else if let bound = actual.address {
      guard allowsOthers || ["127.0.0.1", "::1"].contains(bound.description) else {
        throw SocketError(
          .invalid,
          "\(name) listens on \(bound): only 127.0.0.1 and ::1 are allowed, so that no other machine "
            + "gets in")
      }
      let shown = bound.isIPv6 ? "[\(bound)]" : bound.description
      address = ListenAddress(host: shown, port: Int(actual.port))
    } else {
      throw SocketError(.invalid, "\(name) is none of TCP, nor a Unix socket with a name")
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

  private static func open(_ family: Int32) throws(SocketError) -> Int32 {
    let descriptor = socket(
      family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError.errno("socket", errno) }
    return descriptor
  }

  /// Returns the port that getsockname gives, once it has shown that the address is the one that was
  /// asked for indeed.
  private static func bind(
    _ descriptor: Int32, _ address: IPAddress, shown: String, port: Int
  ) throws(SocketError) -> Int {
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    if address.isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    var asked = SystemSocketAddress(address, port: UInt16(port))
    let bound = asked.withPointer { Glibc.bind(descriptor, $0, $1) }
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
      throw SocketError(.system, "the socket is not bound to \(shown); nothing is served")
    }
    return Int(actual.port)
  }

  /// The next waiting connection, non-blocking and without Nagle's delay, and who it is.
  func accept() -> Result<(Int32, SocketPeer), AcceptFailure> {
    var peer = SystemSocketAddress()
    let taken = peer.read { Glibc.accept(descriptor, $0, $1) }
    if taken >= 0 {
      _ = fcntl(taken, F_SETFL, O_NONBLOCK)
      _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
      if address.unixPath != nil { return .success((taken, .unix)) }
      guard let address = peer.address else {
        Glibc.close(taken)
        return .failure(.aborted)
      }
      var yes: Int32 = 1
      setsockopt(
        taken, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      return .success((taken, .address(address)))
    }
    switch errno {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .failure(.exhausted)
    case EAGAIN: return .failure(.none)
    default: return .failure(.aborted)
    }
  }

  /// Ends the listening; to be called once.
  func close() {
    file?.remove()
    Glibc.close(descriptor)
  }

  enum AcceptFailure: Error {
    case none
    /// The connection went away before it was taken.
    case aborted
    /// The process or the machine has no descriptor left.
    case exhausted
  }
}

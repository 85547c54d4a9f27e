import Glibc

/// A socket that takes connections from this machine.
struct ListeningSocket {
  let descriptor: Int32
  /// The address as a URL has it: `127.0.0.1` or `[::1]`.
  let host: String
  let port: Int

  /// Binds and listens; port 0 takes any that is free.
  init(host: String, port: Int) throws(SocketError) {
    guard (0...65_535).contains(port) else {
      throw SocketError(.invalid, "port \(port) is not between 0 and 65535")
    }
    let isIPv6 = host == "::1" || host == "[::1]"
    guard isIPv6 || host == "127.0.0.1" || host == "localhost" else {
      throw SocketError(
        .invalid,
        "cannot listen on \(host): only 127.0.0.1, localhost and ::1 are allowed, so that no "
          + "other machine gets in"
      )
    }
    self.host = isIPv6 ? "[::1]" : "127.0.0.1"
    let family = isIPv6 ? AF_INET6 : AF_INET
    descriptor = socket(
      family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError.errno("socket", errno) }
    do {
      self.port = try Self.bind(descriptor, isIPv6: isIPv6, host: self.host, port: port)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Returns the port that getsockname gives, once it has shown that the address is loopback
  /// indeed.
  private static func bind(
    _ descriptor: Int32, isIPv6: Bool, host: String, port: Int
  ) throws(SocketError) -> Int {
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    if isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    var address = LoopbackAddress(isIPv6: isIPv6, port: UInt16(port))
    let bound = address.withPointer { Glibc.bind(descriptor, $0, $1) }
    if bound != 0, errno == EADDRINUSE {
      throw SocketError(.addressInUse, "\(host):\(port) is in use by another program")
    }
    guard bound == 0 else {
      throw SocketError.errno("cannot listen on \(host):\(port)", errno)
    }
    guard listen(descriptor, 1024) == 0 else {
      if errno == EADDRINUSE {
        throw SocketError(.addressInUse, "\(host):\(port) is in use by another program")
      }
      throw SocketError.errno("listen", errno)
    }
    var actual = LoopbackAddress(isIPv6: isIPv6, port: 0)
    guard actual.read(by: { getsockname(descriptor, $0, $1) }), actual.isLoopback else {
      throw SocketError(.system, "the socket is not bound to loopback; nothing is served")
    }
    return Int(actual.port)
  }

  /// The next waiting connection, non-blocking and without Nagle's delay.
  func accept() -> Result<Int32, AcceptFailure> {
    let taken = Glibc.accept(descriptor, nil, nil)
    if taken >= 0 {
      _ = fcntl(taken, F_SETFL, O_NONBLOCK)
      _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
      var yes: Int32 = 1
      setsockopt(
        taken, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      return .success(taken)
    }
    switch errno {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .failure(.exhausted)
    case EAGAIN: return .failure(.none)
    default: return .failure(.aborted)
    }
  }

  /// Ends the listening; to be called once.
  func close() {
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

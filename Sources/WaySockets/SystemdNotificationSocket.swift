import Glibc

/// The Unix socket on which a service manager receives notifications, sent as by sd_notify(3).
package struct SystemdNotificationSocket: Sendable {
  private let address: SystemSocketAddress

  /// `name` is the value of NOTIFY_SOCKET: an absolute path, or `@` and an abstract name.
  package init(_ name: String) throws(SocketError) {
    guard name.hasPrefix("/") || name.hasPrefix("@"),
      let address = SystemSocketAddress(unixPath: name)
    else {
      throw SocketError(
        .invalid,
        "\(quoted(name)) is not a Unix socket: an absolute path, or @ and an abstract name, of "
          + "at most 107 bytes")
    }
    self.address = address
  }

  /// Sends one notification of `NAME=VALUE` lines without blocking. Throws if no program receives
  /// it.
  package func send(_ text: String) throws(SocketError) {
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError.errno("socket", errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var address = address
    let sent = address.withPointer {
      sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1)
    }
    guard sent == bytes.count else {
      throw SocketError.errno("the service manager cannot be notified", errno)
    }
  }
}

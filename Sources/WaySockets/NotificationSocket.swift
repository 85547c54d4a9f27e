import Glibc

/// The Unix socket at which a service manager takes notices, as sd_notify(3) sends them.
package struct NotificationSocket: Sendable {
  private let address: SystemSocketAddress

  /// `name` is what NOTIFY_SOCKET holds: a path from the root on, or `@` and an abstract name.
  package init(_ name: String) throws(SocketError) {
    guard name.hasPrefix("/") || name.hasPrefix("@"),
      let address = SystemSocketAddress(unixPath: name)
    else {
      throw SocketError(
        .invalid,
        "\(quoted(name)) is no Unix socket: a path from the root on, or @ and an abstract name, of "
          + "at most 107 bytes")
    }
    self.address = address
  }

  /// Sends one notice, of `NAME=VALUE` lines. Does not wait: where nobody takes it, that is an error.
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
      throw SocketError.errno("the service manager cannot be told", errno)
    }
  }
}

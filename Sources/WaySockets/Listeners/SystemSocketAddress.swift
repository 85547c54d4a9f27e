import Glibc
import WayTransport

/// A sockaddr_in, sockaddr_in6 or sockaddr_un.
struct SystemSocketAddress {
  private var storage = sockaddr_storage()
  private var size = socklen_t(MemoryLayout<sockaddr_storage>.size)

  /// Creates storage for an address that the system writes.
  init() {}

  init(_ address: IPAddress, port: UInt16) {
    withUnsafeMutableBytes(of: &storage) { bytes in
      if address.isIPv6 {
        var made = sockaddr_in6()
        made.sin6_family = sa_family_t(AF_INET6)
        made.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &made.sin6_addr) { $0.copyBytes(from: address.bytes) }
        bytes.storeBytes(of: made, as: sockaddr_in6.self)
      } else {
        var made = sockaddr_in()
        made.sin_family = sa_family_t(AF_INET)
        made.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &made.sin_addr) { $0.copyBytes(from: address.bytes) }
        bytes.storeBytes(of: made, as: sockaddr_in.self)
      }
    }
    size = socklen_t(
      address.isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
  }

  /// A path that begins with `@` is an abstract name (unix(7)). Returns `nil` if the path is longer
  /// than the maximum of 107 bytes.
  init?(unixPath: String) {
    var path = Array(unixPath.utf8)
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    guard !path.contains(0), path.count < MemoryLayout<sockaddr_un>.size - offset else {
      return nil
    }
    let isAbstract = path.first == UInt8(ascii: "@")
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
      if isAbstract { path[0] = 0 }
      UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyBytes(from: path)
    }
    // An abstract name has no terminating zero.
    size = socklen_t(offset + path.count + (isAbstract ? 0 : 1))
  }

  mutating func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    let size = size
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// Lets the system write the address (accept, getsockname, getpeername). Returns the result of
  /// `call`.
  mutating func read(
    by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> Int32 {
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) }
    }
    self.size = size
    return result
  }

  /// AF_INET, AF_INET6 or AF_UNIX.
  var family: Int32 { Int32(storage.ss_family) }

  /// The path of a Unix socket, an abstract name with `@` before it. `nil` for an unnamed socket,
  /// and for other families.
  var unixPath: String? {
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    guard family == AF_UNIX, size > offset else { return nil }
    return withUnsafeBytes(of: storage) { bytes in
      let name = bytes[offset..<min(Int(size), bytes.count)]
      guard name.first == 0 else { return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) }
      return "@" + String(decoding: name.dropFirst(), as: UTF8.self)
    }
  }

  /// The IP address; `nil` for a Unix socket.
  var address: IPAddress? {
    withUnsafeBytes(of: storage) { bytes in
      switch Int32(storage.ss_family) {
      case AF_INET:
        let address = bytes.load(as: sockaddr_in.self).sin_addr
        return withUnsafeBytes(of: address) { IPAddress(bytes: Array($0)) }
      case AF_INET6:
        let address = bytes.load(as: sockaddr_in6.self).sin6_addr
        return withUnsafeBytes(of: address) { IPAddress(bytes: Array($0)) }
      default: return nil
      }
    }
  }

  /// The port; 0 for a Unix socket.
  var port: UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      switch Int32(storage.ss_family) {
      case AF_INET: UInt16(bigEndian: bytes.load(as: sockaddr_in.self).sin_port)
      case AF_INET6: UInt16(bigEndian: bytes.load(as: sockaddr_in6.self).sin6_port)
      default: 0
      }
    }
  }
}

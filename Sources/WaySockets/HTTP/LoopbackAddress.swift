import Glibc

/// sockaddr_in or sockaddr_in6, of loopback.
struct LoopbackAddress {
  private var storage = sockaddr_storage()
  private let isIPv6: Bool

  init(isIPv6: Bool, port: UInt16) {
    self.isIPv6 = isIPv6
    withUnsafeMutableBytes(of: &storage) { bytes in
      if isIPv6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        bytes.storeBytes(of: address, as: sockaddr_in6.self)
      } else {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        bytes.storeBytes(of: address, as: sockaddr_in.self)
      }
    }
  }

  mutating func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }

  mutating func read(
    by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> Bool {
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) == 0 }
    }
  }

  var isLoopback: Bool {
    withUnsafeBytes(of: storage) { bytes in
      if isIPv6 {
        var loopback = in6addr_loopback
        let address = bytes.load(as: sockaddr_in6.self)
        return address.sin6_family == sa_family_t(AF_INET6)
          && withUnsafeBytes(of: address.sin6_addr) { left in
            withUnsafeBytes(of: &loopback) { right in left.elementsEqual(right) }
          }
      }
      let address = bytes.load(as: sockaddr_in.self)
      return address.sin_family == sa_family_t(AF_INET)
        && UInt32(bigEndian: address.sin_addr.s_addr) == 0x7F00_0001
    }
  }

  var port: UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      isIPv6
        ? UInt16(bigEndian: bytes.load(as: sockaddr_in6.self).sin6_port)
        : UInt16(bigEndian: bytes.load(as: sockaddr_in.self).sin_port)
    }
  }
}

import Glibc

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes the IPv4
/// address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// Four or sixteen bytes in network order.
  package let bytes: [UInt8]

  /// Parses an address as inet_pton does: four decimal numbers, or RFC 4291 §2.2 without brackets
  /// and zone. Returns `nil` for anything else.
  package init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let isIPv6 = text.utf8.contains(0x3A)
    var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
    guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
    self.init(bytes: bytes)
  }

  /// Creates an address from four or sixteen bytes.
  package init(bytes: [UInt8]) {
    let isMapped =
      bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF
      && bytes[11] == 0xFF
    self.bytes = isMapped ? Array(bytes[12...]) : bytes
  }

  package var isIPv6: Bool { bytes.count == 16 }

  /// The network that one client is likely to have: the address itself, or the first 64 bits of an
  /// IPv6 address.
  package var clientNetwork: IPAddress {
    isIPv6 ? IPAddress(bytes: bytes[..<8] + [UInt8](repeating: 0, count: 8)) : self
  }

  /// The ``clientNetwork`` of the client with an address, as text: `192.0.2.1`, `2001:db8::/64`.
  /// Returns a text that is no address, such as `unix`, unchanged.
  package static func networkText(of text: String) -> String {
    IPAddress(text)?.networkText ?? text
  }

  /// The ``clientNetwork`` as text: `192.0.2.1`, `2001:db8::/64`.
  package var networkText: String { clientNetwork.description + (isIPv6 ? "/64" : "") }

  /// Whether it is in 127.0.0.0/8, or `::1`.
  package var isLoopback: Bool {
    isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 : bytes.first == 127
  }

  /// The format of inet_ntop: without brackets, IPv6 shortened and in lower case.
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

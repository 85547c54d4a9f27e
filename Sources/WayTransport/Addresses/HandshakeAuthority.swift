/// A host with an optional port, as in the Host header (RFC 9110 §7.2). It is parsed more strictly
/// than in a URI: a host that programs interpret differently is invalid.
package struct HandshakeAuthority: Hashable, Sendable, CustomStringConvertible {
  /// The host in lower case. It is a name without a final dot, an IPv4 address of four decimal
  /// numbers, or an IPv6 address. An IPv6 address has brackets and the format of inet_ntop.
  package let host: String
  /// From 1 to 65,535; `nil` without a port.
  package let port: Int?

  /// Parses `HOST` or `HOST:PORT`. Returns `nil` for anything else, such as user info,
  /// percent-encoding and other formats of addresses.
  package init?(_ text: String) {
    guard text.utf8.count <= 300, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return nil
    }
    let text = text.lowercased()
    // An IPv6 address contains colons.
    let end = text.lastIndex(of: "]").map(text.index(after:)) ?? text.firstIndex(of: ":")
    let host = text[..<(end ?? text.endIndex)]
    let rest = text[(end ?? text.endIndex)...]
    guard Self.isHost(host) else { return nil }
    self.host = String(host)
    if rest.isEmpty {
      port = nil
    } else {
      guard rest.hasPrefix(":"), let port = Self.port(rest.dropFirst()) else { return nil }
      self.port = port
    }
  }

  package var description: String { host + (port.map { ":\($0)" } ?? "") }

  /// Whether the host is an address, not a name.
  package var isAddress: Bool { host.hasPrefix("[") || IPAddress(host) != nil }

  static func port(_ digits: some StringProtocol) -> Int? {
    guard (1...5).contains(digits.utf8.count), digits.utf8.first != 0x30,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits)
    else { return nil }
    return port <= 65_535 ? port : nil
  }

  private static func isHost(_ text: Substring) -> Bool {
    if text.hasPrefix("[") {
      let inner = String(text.dropFirst().dropLast())
      guard text.hasSuffix("]"), let address = IPAddress(inner) else { return false }
      return address.isIPv6 && address.description == inner
    }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, labels.allSatisfy(isLabel) else { return false }
    // Programs also read 127.1, 2130706433 and 0x7f.1 as addresses.
    guard let last = labels.last, last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x") else {
      return true
    }
    return IPAddress(String(text)) != nil
  }

  private static func isLabel(_ label: Substring) -> Bool {
    (1...63).contains(label.utf8.count)
      && label.utf8.allSatisfy {
        isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
      }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

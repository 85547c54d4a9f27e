import WayTransport

/// The addresses that begin with the same bits: one address, or a network in CIDR notation (RFC 4632
/// §3.1).
package struct PeerAddressRange: Hashable, Sendable {
  private let first: IPAddress
  private let bits: Int

  /// Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. Nil for what is none, also where bits behind
  /// the network's own are set.
  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let part = parts.first, let address = IPAddress(String(part)) else { return nil }
    first = address
    guard parts.count == 2 else {
      bits = address.bytes.count * 8
      return
    }
    let digits = parts[1]
    guard (1...3).contains(digits.utf8.count), digits == "0" || digits.utf8.first != 0x30,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(digits),
      bits <= address.bytes.count * 8
    else { return nil }
    self.bits = bits
    guard Self.cut(address, to: bits) == address.bytes else { return nil }
  }

  func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == first.bytes.count && Self.cut(address, to: bits) == first.bytes
  }

  /// The address with zeros behind so many bits.
  private static func cut(_ address: IPAddress, to bits: Int) -> [UInt8] {
    address.bytes.enumerated().map { index, byte in
      let kept = min(max(bits - index * 8, 0), 8)
      return byte & ~(UInt8.max >> kept)
    }
  }
}

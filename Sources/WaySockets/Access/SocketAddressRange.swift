import WayTransport

/// A range of addresses with the same prefix: one address, or a network in CIDR notation (RFC 4632
/// §3.1).
package struct SocketAddressRange: Hashable, Sendable {
  private let first: IPAddress
  private let prefixLength: Int

  /// Reads `192.0.2.1`, `192.0.2.0/24` or `2001:db8::/32`. Returns `nil` for anything else, and if
  /// bits after the network's prefix are set.
  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let part = parts.first, let address = IPAddress(String(part)) else { return nil }
    first = address
    guard parts.count == 2 else {
      prefixLength = address.bytes.count * 8
      return
    }
    let digits = parts[1]
    guard (1...3).contains(digits.utf8.count), digits == "0" || digits.utf8.first != 0x30,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(digits),
      bits <= address.bytes.count * 8
    else { return nil }
    self.prefixLength = bits
    guard Self.masked(address, to: bits) == address.bytes else { return nil }
  }

  func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == first.bytes.count
      && Self.masked(address, to: prefixLength) == first.bytes
  }

  /// The address with all bits after the first `bits` set to zero.
  private static func masked(_ address: IPAddress, to bits: Int) -> [UInt8] {
    address.bytes.enumerated().map { index, byte in
      let prefixBits = min(max(bits - index * 8, 0), 8)
      return byte & ~(UInt8.max >> prefixBits)
    }
  }
}

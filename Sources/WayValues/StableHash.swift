/// A hash that is the same in every process, on every machine and in every version: FNV-1a with 64
/// bits. Not for secrets, nor for uses in which an attacker gains from two texts with the same
/// hash.
package struct StableHash: Sendable {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  package mutating func add(_ byte: UInt8) {
    state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// Adds the UTF-8 bytes of a string.
  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      for byte in bytes { add(byte) }
    }
  }

  /// The hash of all bytes so far.
  package var value: UInt64 { state }

  /// ``value`` as 16 hex digits.
  package var hexString: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

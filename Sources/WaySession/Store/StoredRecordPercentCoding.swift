/// Encodes a string of any bytes with a limited set of characters. Each other byte becomes a mark
/// and two hexadecimal digits.
package struct StoredRecordPercentCoding: Sendable {
  private let mark: UInt8
  /// The characters that stay as they are, in addition to letters and digits.
  private let unescaped: Set<UInt8>
  private let isUppercase: Bool

  /// `unescaped` must not contain the mark.
  package init(mark: Unicode.Scalar, keeping unescaped: String, isUppercase: Bool) {
    self.mark = UInt8(ascii: mark)
    self.unescaped = Set(unescaped.utf8)
    self.isUppercase = isUppercase
  }

  package func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case _ where unescaped.contains(byte): bytes.append(byte)
      default:
        bytes.append(mark)
        if byte < 16 { bytes.append(UInt8(ascii: "0")) }
        bytes += String(byte, radix: 16, uppercase: isUppercase).utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The decoded string; nil if `escaped` is invalid.
  package func decodedText(of escaped: Substring) -> String? {
    var bytes: [UInt8] = []
    var remaining = escaped.utf8[...]
    while let byte = remaining.popFirst() {
      guard byte == mark else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: remaining.prefix(2), as: UTF8.self), radix: 16)
      else {
        return nil
      }
      bytes.append(value)
      remaining = remaining.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

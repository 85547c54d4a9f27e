/// Writes a text of any bytes as a name of few kinds of them: each other byte is a mark and two hex
/// digits.
package struct RecordPercentCoding: Sendable {
  private let mark: UInt8
  /// What stands for itself beside letters and digits.
  private let kept: Set<UInt8>
  private let isUppercase: Bool

  /// `kept` must not have the mark.
  package init(mark: Unicode.Scalar, keeping kept: String, isUppercase: Bool) {
    self.mark = UInt8(ascii: mark)
    self.kept = Set(kept.utf8)
    self.isUppercase = isUppercase
  }

  package func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case _ where kept.contains(byte): bytes.append(byte)
      default:
        bytes.append(mark)
        if byte < 16 { bytes.append(UInt8(ascii: "0")) }
        bytes += String(byte, radix: 16, uppercase: isUppercase).utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that was written so; nil for none.
  package func text(of escaped: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = escaped.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == mark else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

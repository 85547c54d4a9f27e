/// The text of a header field in the form of the Model Context Protocol: plain, or
/// `=?base64?…?=` around the base64 of its UTF-8 bytes.
package struct MCPHeaderText: Sendable, Hashable {
  private static let prefix = "=?base64?"
  private static let suffix = "?="

  /// The decoded text.
  package let text: String

  /// Decodes the value of a field; `nil` if its base64 or its UTF-8 is invalid. A value with only
  /// one of the markers is plain text.
  package init?(_ value: String) {
    guard value.utf8.starts(with: Self.prefix.utf8), value.utf8.count >= Self.minEncodedCount,
      value.utf8.suffix(2).elementsEqual(Self.suffix.utf8)
    else {
      text = value
      return
    }
    let encoded = value.utf8.dropFirst(Self.prefix.utf8.count).dropLast(Self.suffix.utf8.count)
    guard let bytes = Base64Text.bytes(of: encoded),
      let decoded = String(validating: bytes, as: UTF8.self)
    else { return nil }
    text = decoded
  }

  private static let minEncodedCount = prefix.utf8.count + suffix.utf8.count
}

/// Base64 with padding (RFC 4648 §4).
struct Base64Text: Sendable, Hashable {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8: UInt8] = Dictionary(
    uniqueKeysWithValues: alphabet.enumerated().map { ($0.element, UInt8($0.offset)) })

  /// The encoded text.
  let text: String

  /// Encodes some bytes.
  init(encoding bytes: some Sequence<UInt8>) {
    var encoded: [UInt8] = []
    let bytes = Array(bytes)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      var word = part.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
      var digits: [UInt8] = []
      for _ in 0..<4 {
        digits.append(Self.alphabet[Int(word & 63)])
        word >>= 6
      }
      encoded += digits.reversed().prefix(part.count + 1)
      encoded += Array(repeating: UInt8(ascii: "="), count: 3 - part.count)
    }
    text = String(decoding: encoded, as: UTF8.self)
  }

  /// Decodes a text; `nil` unless encoding the bytes returns the same text.
  static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var word: UInt32 = 0
    for (index, digit) in text.dropLast(padding).enumerated() {
      guard let value = values[digit] else { return nil }
      word = word << 6 | UInt32(value)
      if index % 4 == 3 {
        bytes += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
        word = 0
      }
    }
    switch padding {
    case 1: bytes += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
    case 2: bytes += [UInt8(word >> 4 & 255)]
    default: break
    }
    guard Base64Text(encoding: bytes).text.utf8.elementsEqual(text) else { return nil }
    return bytes
  }
}

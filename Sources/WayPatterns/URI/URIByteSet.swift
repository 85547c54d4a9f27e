/// A set of ASCII bytes, for the character classes of RFC 3986.
struct URIByteSet: Sendable {
  private let low: UInt64
  private let high: UInt64

  init(_ members: String) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    for byte in members.utf8 where byte < 128 {
      if byte < 64 { low |= 1 &<< UInt64(byte) } else { high |= 1 &<< UInt64(byte & 63) }
    }
    self.low = low
    self.high = high
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let half = byte < 64 ? low : high
    return byte < 128 && (half &>> UInt64(byte & 63)) & 1 == 1
  }
}

extension URIByteSet {
  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  private static let digits = "0123456789"
  private static let subDelimiters = "!$&'()*+,;="
  private static let unreservedText = letters + digits + "-._~"

  /// `unreserved`, RFC 3986 §2.3.
  static let unreserved = URIByteSet(unreservedText)
  /// The characters after the first letter of a scheme, §3.1.
  static let scheme = URIByteSet(letters + digits + "+-.")
  /// `userinfo` and the address of an `IPvFuture`, §3.2.1 and §3.2.2.
  static let userinfo = URIByteSet(unreservedText + subDelimiters + ":")
  /// `reg-name`, §3.2.2.
  static let name = URIByteSet(unreservedText + subDelimiters)
  /// `pchar` and the slash between segments, §3.3.
  static let path = URIByteSet(unreservedText + subDelimiters + ":@/")
  /// `pchar`, the characters that a segment holds unencoded.
  static let segment = URIByteSet(unreservedText + subDelimiters + ":@")
  /// The characters that a name or a value in a query holds unencoded; `&`, `=` and `+` have a
  /// meaning there.
  static let queryValue = URIByteSet(unreservedText + "!$'()*,;:@/?")
  /// `query` and `fragment`, §3.4 and §3.5.
  static let query = URIByteSet(unreservedText + subDelimiters + ":@/?")
}

extension UInt8 {
  /// A byte of ASCII, named by its character.
  static let slash = UInt8(ascii: "/")
  static let colon = UInt8(ascii: ":")
  static let percent = UInt8(ascii: "%")
  static let questionMark = UInt8(ascii: "?")
  static let numberSign = UInt8(ascii: "#")
  static let dot = UInt8(ascii: ".")
  static let atSign = UInt8(ascii: "@")

  var isDigit: Bool { self >= 0x30 && self <= 0x39 }
  var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }

  /// The value of a hexadecimal digit.
  var hexValue: UInt8? {
    if isDigit { return self &- 0x30 }
    let letter = self | 0x20
    return letter >= 0x61 && letter <= 0x66 ? letter &- 0x57 : nil
  }

  /// The lower-case letter for an upper-case one; any other byte unchanged.
  var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

  /// The upper-case hexadecimal digit for a value below 16.
  static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}

extension Array where Element == UInt8 {
  /// Appends the percent-encoded triplet of `byte`.
  mutating func appendPercentEncoded(_ byte: UInt8) {
    append(.percent)
    append(.hexDigit(byte >> 4))
    append(.hexDigit(byte & 15))
  }
}

extension Span where Element == UInt8 {
  /// Returns the byte of the triplet at `position`, which is known to hold one.
  @inline(__always)
  func percentDecodedByte(at position: Int) -> UInt8 {
    (self[position + 1].hexValue ?? 0) &<< 4 | (self[position + 2].hexValue ?? 0)
  }
}

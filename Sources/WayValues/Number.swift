/// A number with the digits it was written with, so that nothing is lost: `1.0`, `1e2`, `-0` and
/// integers beyond 64 bits stay the same.
public struct Number: Sendable, Hashable {
  /// The maximum number of digits of an integer type: that of 128 bits.
  private static let maxIntegerDigits = 39

  /// The number as RFC 8259 §6 writes it.
  public let digits: String

  /// Creates a number from digits that are known to be valid JSON.
  package init(validated digits: String) {
    self.digits = digits
  }

  /// Creates a number from digits as in RFC 8259 §6; `nil` for anything else.
  public init?(digits: String) {
    guard Self.isNumber(digits.utf8) else { return nil }
    self.digits = digits
  }

  /// Creates the number with the shortest digits that parse to this value; `nil` for NaN and the
  /// infinities.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    digits = value.description
  }

  /// The nearest double; infinite if the number exceeds a double's range.
  public var double: Double { Double(digits) ?? .infinity }

  /// Whether the number is an integer by its value: `7`, `7.0` and `7e2`, not `7.5`. Beyond 64 bits
  /// only a number of digits alone is one.
  package var isInteger: Bool {
    if digits.utf8.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: "-") }) { return true }
    let double = double
    return double.magnitude < 0x1p63 && double.rounded() == double
  }

  /// Returns the exact integer value of the number: 7 for `7`, `7.0` and `70e-1`. Returns `nil` if
  /// it is no integer, or exceeds the type.
  package func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    let bytes = digits.utf8
    let mantissa = bytes.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
    let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }.count
    var significant = mantissa.filter(Self.isDigit).drop { $0 == UInt8(ascii: "0") }
    // The number of zeros after the significant digits, without those that are written.
    var zeros = min(0, whole - mantissa.count + 1)
    while significant.last == UInt8(ascii: "0") {
      significant.removeLast()
      zeros += 1
    }
    if significant.isEmpty { return 0 }
    if mantissa.endIndex < bytes.endIndex {
      guard let exponent = Int32(digits[bytes.index(after: mantissa.endIndex)...]) else {
        return nil
      }
      zeros += Int(exponent)
    }
    guard zeros >= 0, significant.count + zeros <= Self.maxIntegerDigits else { return nil }
    significant += Array(repeating: UInt8(ascii: "0"), count: zeros)
    let sign = bytes.first == UInt8(ascii: "-") ? "-" : ""
    return Integer(sign + String(decoding: significant, as: UTF8.self))
  }

  /// Whether a text is a number (RFC 8259 §6).
  private static func isNumber(_ text: String.UTF8View) -> Bool {
    var rest = text[...]
    func digits() -> Int {
      let count = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(count)
      return count
    }
    func accept(_ bytes: UInt8...) -> Bool {
      guard let first = rest.first, bytes.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = accept(UInt8(ascii: "-"))
    if !accept(UInt8(ascii: "0")), digits() == 0 { return false }
    if accept(UInt8(ascii: ".")), digits() == 0 { return false }
    if accept(UInt8(ascii: "e"), UInt8(ascii: "E")) {
      _ = accept(UInt8(ascii: "+"), UInt8(ascii: "-"))
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

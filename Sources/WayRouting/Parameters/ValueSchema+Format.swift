import WayPatterns
import WayValues

extension ValueSchema.StringFormat {
  /// Whether a string has the format.
  func fits(_ text: String) -> Bool {
    var reader = FormatReader(text)
    return switch self {
    case .dateTime: reader.date() && reader.consume("Tt") && reader.time() && reader.isAtEnd
    case .date: reader.date() && reader.isAtEnd
    case .time: reader.time() && reader.isAtEnd
    case .uuid: reader.uuid() && reader.isAtEnd
    case .email: Self.isEmail(text)
    case .uri: (try? RouteURI(text))?.hasScheme == true
    }
  }

  private static func isEmail(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
      && !text.contains(where: \.isWhitespace)
  }

  var described: String {
    switch self {
    case .dateTime: "a date and time with an offset, such as 2026-01-31T09:30:00Z"
    case .date: "a date such as 2026-01-31"
    case .time: "a time with an offset, such as 09:30:00Z"
    case .email: "an email address"
    case .uri: "a URI with a scheme"
    case .uuid: "a UUID"
    }
  }
}

/// Reads the formats of RFC 3339 and RFC 9562.
private struct FormatReader {
  private var rest: Substring.UTF8View

  init(_ text: String) {
    rest = Substring(text).utf8
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Consumes one of these bytes; returns `false` if the next byte is none of them.
  mutating func consume(_ bytes: StaticString) -> Bool {
    guard let first = rest.first,
      bytes.withUTF8Buffer({ $0.contains(first) })
    else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func number(of digits: Int) -> Int? {
    guard rest.count >= digits else { return nil }
    var number = 0
    for byte in rest.prefix(digits) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    rest = rest.dropFirst(digits)
    return number
  }

  mutating func date() -> Bool {
    guard let year = number(of: 4), consume("-"), let month = number(of: 2), consume("-"),
      let day = number(of: 2), (1...12).contains(month), day >= 1
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return switch month {
    case 2: day <= (isLeap ? 29 : 28)
    case 4, 6, 9, 11: day <= 30
    default: day <= 31
    }
  }

  mutating func time() -> Bool {
    guard let hour = number(of: 2), consume(":"), let minute = number(of: 2), consume(":"),
      let second = number(of: 2), hour < 24, minute < 60, second <= 60
    else { return false }
    if consume(".") {
      guard number(of: 1) != nil else { return false }
      while number(of: 1) != nil {}
    }
    if consume("Zz") { return true }
    guard consume("+-"), let hours = number(of: 2), consume(":"), let minutes = number(of: 2) else {
      return false
    }
    return hours < 24 && minutes < 60
  }

  mutating func uuid() -> Bool {
    for (index, count) in [8, 4, 4, 4, 12].enumerated() {
      if index > 0, !consume("-") { return false }
      for _ in 0..<count {
        guard consume("0123456789abcdefABCDEF") else { return false }
      }
    }
    return true
  }
}

// Strings and regular expressions, in which anything may stand that looks like a declaration.
extension SourceReader {
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  private static let slash = UInt8(ascii: "/")
  private static let newline = UInt8(ascii: "\n")

  /// Reads a string from its first quote on; its text where that has no escape, and stands on one line.
  mutating func string(pounds: Int, _ depth: Int) throws(ScanFault) -> String? {
    let isLong = starts(with: "\"\"\"") && isLineBlank(from: 3)
    let quotes = isLong ? 3 : 1
    advance(quotes)
    let start = position
    var isPlain = !isLong
    while let byte = peek() {
      if byte == Self.quote, closes(quotes, pounds) {
        let text = text(from: start)
        advance(quotes + pounds)
        return isPlain ? text : nil
      }
      if byte == Self.newline, !isLong { return nil }
      if byte == Self.backslash, hasPounds(pounds, at: 1) {
        isPlain = false
        advance(1 + pounds)
        let escaped = peek()
        advance()
        if escaped == UInt8(ascii: "(") { try read(depth: depth + 1) }
      } else {
        advance()
      }
    }
    return nil
  }

  private func closes(_ quotes: Int, _ pounds: Int) -> Bool {
    for offset in 0..<quotes where peek(offset) != Self.quote { return false }
    return hasPounds(pounds, at: quotes)
  }

  private func hasPounds(_ count: Int, at offset: Int) -> Bool {
    for number in 0..<count where peek(offset + number) != UInt8(ascii: "#") { return false }
    return true
  }

  private func isLineBlank(from offset: Int) -> Bool {
    var offset = offset
    while let byte = peek(offset), byte != Self.newline {
      guard Self.isSpace(byte) else { return false }
      offset += 1
    }
    return true
  }

  /// Skips a regular expression, if the slash here can begin one: it stands where a value may begin, and another slash
  /// ends it on its line.
  mutating func skipRegex() -> Bool {
    guard position >= regexBarrier, mayBeginValue, let next = peek(1), !Self.isSpace(next)
    else { return false }
    var offset = 1
    var open = 0
    while let byte = peek(offset), byte != Self.newline {
      switch byte {
      case Self.backslash: offset += 1
      case UInt8(ascii: "("): open += 1
      case UInt8(ascii: ")"):
        open -= 1
        if open < 0 { return false }
      case Self.slash:
        if let last = peek(offset - 1), last == UInt8(ascii: " ") { return false }
        advance(offset + 1)
        return true
      default: break
      }
      offset += 1
    }
    regexBarrier = position + offset
    return false
  }

  mutating func skipExtendedRegex(_ pounds: Int) {
    advance(pounds + 1)
    let isLong = isLineBlank(from: 0)
    while let byte = peek() {
      if byte == Self.slash, hasPounds(pounds, at: 1) { return advance(1 + pounds) }
      if byte == Self.newline, !isLong { return }
      advance(byte == Self.backslash ? 2 : 1)
    }
  }

  /// Words behind which a value begins, though a name would end one.
  private static let introducers: Set<String> = [
    "return", "in", "case", "where", "if", "while", "guard", "switch", "throw", "try", "await",
    "else", "is", "as", "yield", "consume", "copy",
  ]

  private var mayBeginValue: Bool {
    guard let last = tokens.last else { return true }
    switch last.kind {
    case .word: return Self.introducers.contains(last.text)
    case .escapedWord, .string, .literal: return false
    case .punctuation: return ![")", "]", "}", "?", "!"].contains(last.text)
    case .directive: return true
    }
  }
}

// Space, comments, words, numbers and what begins with `#`.
extension SourceReader {
  mutating func skipSpace() {
    while let byte = peek() {
      if Self.isSpace(byte) {
        advance()
      } else if starts(with: "//") {
        skipLine()
      } else if starts(with: "/*") {
        skipComment()
      } else {
        return
      }
    }
  }

  /// Comments nest.
  private mutating func skipComment() {
    var open = 0
    while position < bytes.count {
      if starts(with: "/*") {
        open += 1
        advance(2)
      } else if starts(with: "*/") {
        open -= 1
        advance(2)
        if open == 0 { return }
      } else {
        advance()
      }
    }
  }

  mutating func word() -> String {
    let start = position
    while let byte = peek(), Self.isWordTail(byte) { advance() }
    return text(from: start)
  }

  mutating func escapedWord() -> String {
    let start = position
    advance()
    while let byte = peek(), byte != UInt8(ascii: "\n") {
      advance()
      if byte == UInt8(ascii: "`") { break }
    }
    return text(from: start)
  }

  mutating func number() -> String {
    let start = position
    while let byte = peek() {
      let isFraction = byte == UInt8(ascii: ".") && peek(1).map(Self.isWordTail) == true
      guard Self.isWordTail(byte) || isFraction else { break }
      advance()
    }
    return text(from: start)
  }

  /// A raw string, an extended regular expression, a directive, or just a `#`.
  mutating func pound(_ depth: Int) throws(ScanFault) -> (SourceToken.Kind, String) {
    var pounds = 1
    while peek(pounds) == UInt8(ascii: "#") { pounds += 1 }
    if peek(pounds) == UInt8(ascii: "\"") {
      advance(pounds)
      let plain = try string(pounds: pounds, depth)
      return (plain == nil ? .literal : .string, plain ?? "")
    }
    if peek(pounds) == UInt8(ascii: "/") {
      skipExtendedRegex(pounds)
      return (.literal, "")
    }
    for directive in ["elseif", "else", "endif", "if"] as [StaticString] where pounds == 1 {
      let count = directive.utf8CodeUnitCount
      let isWhole = peek(1 + count).map(Self.isWordTail) != true
      if starts(with: directive, at: 1), isWhole {
        advance(1 + count)
        return (.directive, "\(directive)")
      }
    }
    advance(pounds)
    return (.punctuation, "#")
  }
}

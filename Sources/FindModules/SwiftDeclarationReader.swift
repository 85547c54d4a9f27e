/// Reads the words and punctuation of Swift source outside of brackets, comments and literals: its
/// declarations at top level. Invalid Swift has an arbitrary result; the compiler reports it.
struct SwiftDeclarationReader {
  private struct Literal {
    let end: String
    var escape = "\\"
    var isMultiline = false
    var interpolates = false
  }

  private let source: [Unicode.Scalar]
  private var position = 0
  private var line = 1
  /// The open brackets, as a stack instead of a recursion, for any depth of nesting. After the
  /// bracket of an interpolation its literal continues.
  private var brackets: [(line: Int, literal: Literal?)] = []
  private(set) var tokens: [(text: String, line: Int)] = []

  /// The line of a bracket that is never closed; the source after it counts as nested.
  var unclosedLine: Int? { brackets.first?.line }

  init(_ text: String) {
    source = Array(text.unicodeScalars)
    if starts(with: "\u{FEFF}") { advance() }
    if starts(with: "#!") { advance(restOfLine.count) }
    while position < source.count { read(source[position]) }
  }

  private mutating func read(_ scalar: Unicode.Scalar) {
    let start = position
    let isAtTop = brackets.isEmpty
    switch scalar {
    case _ where isSpace(scalar): return advance()
    case "/" where starts(with: "//"): return advance(restOfLine.count)
    case "/" where starts(with: "/*"): return skipComment()
    case "/" where beginsRegex: return skip(Literal(end: "/"), from: 1)
    case "\"", "#": return skipLiteral()
    case "(", "[": return open(nil)
    case ")", "]", "}":
      advance()
      if let literal = brackets.popLast()?.literal { skip(literal) }
      return
    case "{": open(nil)
    case "`": skip(Literal(end: "`"), from: 1)
    case "-" where starts(with: "->"): advance(2)
    default: advance(max(1, rest.prefix(while: isWord).count))
    }
    if isAtTop {
      tokens.append((String(String.UnicodeScalarView(source[start..<position])), line))
    }
  }

  private mutating func open(_ literal: Literal?) {
    brackets.append((line, literal))
    advance()
  }

  /// Comments nest.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      let change = starts(with: "/*") ? 1 : starts(with: "*/") ? -1 : 0
      depth += change
      advance(change == 0 ? 1 : 2)
    } while depth > 0 && position < source.count
  }

  /// Skips a string or a regular expression after any number of `#`, or only these.
  private mutating func skipLiteral() {
    let pounds = String(repeating: "#", count: rest.prefix { $0 == "#" }.count)
    advance(pounds.count)
    if starts(with: "/"), !pounds.isEmpty {
      skip(Literal(end: "/" + pounds, isMultiline: isLineBlank(from: 1)), from: 1)
    } else if starts(with: "\"") {
      // The text of a multi-line string begins on the next line: `#"""#` is a quote between quotes.
      let isLong = starts(with: "\"\"\"") && isLineBlank(from: 3)
      let quotes = isLong ? "\"\"\"" : "\""
      skip(
        Literal(
          end: quotes + pounds, escape: "\\" + pounds, isMultiline: isLong, interpolates: true),
        from: quotes.count)
    }
  }

  /// Skips a literal up to its end or into an interpolation.
  private mutating func skip(_ literal: Literal, from count: Int = 0) {
    advance(count)
    while position < source.count, literal.isMultiline || !isNewline(source[position]) {
      if starts(with: literal.end) { return advance(literal.end.count) }
      if starts(with: literal.escape) {
        advance(literal.escape.count)
        if literal.interpolates, starts(with: "(") { return open(literal) }
      }
      advance()
    }
  }

  /// Whether the slash here begins a regular expression, by Swift's rule: it follows a space or an
  /// opening character, precedes a character other than space, and has another slash on its line.
  private var beginsRegex: Bool {
    let before = position == 0 ? " " : source[position - 1]
    guard isSpace(before) || "([{,:;".unicodeScalars.contains(before),
      let next = rest.dropFirst().first, !isSpace(next), !"),=".unicodeScalars.contains(next)
    else { return false }
    return restOfLine.dropFirst().contains("/")
  }

  private func isLineBlank(from offset: Int) -> Bool {
    rest.dropFirst(offset).first { isNewline($0) || !isSpace($0) }.map(isNewline) ?? true
  }

  private var rest: ArraySlice<Unicode.Scalar> { source[position...] }
  private var restOfLine: ArraySlice<Unicode.Scalar> { rest.prefix { !isNewline($0) } }
  private func starts(with text: String) -> Bool { rest.starts(with: text.unicodeScalars) }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < source.count {
      if source[position] == "\n" { line += 1 }
      position += 1
    }
  }

  private func isNewline(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }
  private func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }
  private func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.value > 0x7F || Character(scalar).isLetter || Character(scalar).isNumber
  }
}

import WayTableTools

/// Splits generated code into tokens like the compiler of its language: strings, comments, names,
/// operators.
struct CodeScanner {
  struct ScanError: Error, CustomStringConvertible {
    let line: Int
    let reason: String
    var description: String { "line \(line): \(reason)" }
  }

  private let language: CodeLanguage
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var line = 1
  private var openBrackets: [Unicode.Scalar] = []
  /// Each name in the code, outside of strings and comments.
  private(set) var identifiers: [String] = []
  /// The contents of the strings, as written.
  private(set) var strings: [String] = []

  init(_ text: String, _ language: CodeLanguage) {
    self.language = language.syntax
    scalars = Array(text.unicodeScalars)
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }
  private var following: Unicode.Scalar? {
    position + 1 < scalars.count ? scalars[position + 1] : nil
  }

  private mutating func advance() -> Unicode.Scalar? {
    guard let next else { return nil }
    position += 1
    if next == "\n" { line += 1 }
    return next
  }

  mutating func scan() throws(ScanError) {
    while let scalar = next {
      switch scalar {
      case "/" where following == "/": try scanLineComment()
      case "/" where following == "*": try scanComment()
      case "\"": try scanString()
      case " ", "\n": _ = advance()
      case "(", "[", "{":
        openBrackets.append(scalar)
        _ = advance()
      case ")", "]", "}":
        let expected: Unicode.Scalar = scalar == ")" ? "(" : scalar == "]" ? "[" : "{"
        guard openBrackets.popLast() == expected else {
          throw scanError("'\(scalar)' closes nothing")
        }
        _ = advance()
      case "'":
        // The fixed parts of Kotlin code contain strings of one character.
        guard language == .kotlin, scalars[position + 2] == "'" else {
          throw scanError("a text in '")
        }
        position += 3
      case _ where isIdentifierStart(scalar): scanIdentifier()
      case _
      where scalar.isASCII && "0123456789.,:;=?!<>|&+-*@_$#%^~".unicodeScalars.contains(scalar):
        _ = advance()
      default: throw scanError("U+\(String(scalar.value, radix: 16)) stands in the code")
      }
    }
    guard openBrackets.isEmpty else { throw scanError("'\(openBrackets)' is left open") }
  }

  private func scanError(_ reason: String) -> ScanError { ScanError(line: line, reason: reason) }

  private func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_" || scalar == "@"
      || (!scalar.isASCII && language != .dart && scalar.properties.isXIDStart
        && !scalar.properties.isDefaultIgnorableCodePoint)
  }

  private mutating func scanIdentifier() {
    let start = position
    position += 1
    while let scalar = next, isIdentifierStart(scalar) || ("0"..."9").contains(scalar) {
      _ = advance()
    }
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars[start..<position])
    identifiers.append(String(name))
  }

  private mutating func scanLineComment() throws(ScanError) {
    while let scalar = next, scalar != "\n" { try checkIsVisible(advance() ?? scalar) }
  }

  private mutating func scanComment() throws(ScanError) {
    var depth = 0
    repeat {
      guard let scalar = advance() else { throw scanError("a comment is left open") }
      if scalar != "\n" { try checkIsVisible(scalar) }
      if scalar == "/", next == "*", depth == 0 || language != .typescript {
        _ = advance()
        depth += 1
      } else if scalar == "*", next == "/" {
        _ = advance()
        depth -= 1
      }
    } while depth > 0
  }

  private mutating func scanString() throws(ScanError) {
    _ = advance()
    var text = ""
    while true {
      guard let scalar = advance(), scalar != "\n" else { throw scanError("a text is left open") }
      if scalar == "\"" { break }
      try checkIsVisible(scalar)
      text.unicodeScalars.append(scalar)
      if scalar == "\\" {
        guard let escaped = advance() else { throw scanError("a text is left open") }
        let known = language == .dart || language == .kotlin ? "\"\\nrtu$" : "\"\\nrtu"
        // The fixed parts insert names into strings, but never with a backslash.
        guard known.unicodeScalars.contains(escaped) else {
          throw scanError("\\\(escaped) in a text")
        }
        text.unicodeScalars.append(escaped)
      } else if scalar == "$", language == .dart || language == .kotlin {
        // So do the fixed parts of Dart and Kotlin, which do not depend on the table.
        try skipInterpolation()
      }
    }
    strings.append(text)
  }

  /// Skips `$path` and `${…}`, of which the fixed parts have a few.
  private mutating func skipInterpolation() throws(ScanError) {
    let inserts = [
      "path.", "path[", "name.", "name ", "path ", "expected;", "index]", "{json == null ? ",
      "{if (json == null) ",
    ]
    for insert in inserts where scalars[position...].starts(with: insert.unicodeScalars) {
      guard insert.hasPrefix("{") else { return }
      var depth = 0
      repeat {
        guard let scalar = advance() else { throw scanError("a text is left open") }
        if scalar == "{" { depth += 1 }
        if scalar == "}" { depth -= 1 }
      } while depth > 0
      return
    }
    if scalars[position...].starts(with: "name\"".unicodeScalars) { return }
    throw scanError("a $ in a text")
  }

  /// Checks that no character is invisible or changes the text direction.
  private func checkIsVisible(_ scalar: Unicode.Scalar) throws(ScanError) {
    let isJoiner =
      scalar == "\u{200C}" || scalar == "\u{200D}" || ("\u{FE00}"..."\u{FE0F}").contains(scalar)
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      if isJoiner { return }
      throw scanError("U+\(String(scalar.value, radix: 16)) is written as it is")
    default: return
    }
  }
}

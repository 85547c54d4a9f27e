import WayTableTools

/// Takes generated code apart as the compiler of its language does: texts, comments, names, signs.
struct CodeScanner {
  struct Fault: Error, CustomStringConvertible {
    let line: Int
    let reason: String
    var description: String { "line \(line): \(reason)" }
  }

  private let language: CodeLanguage
  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var line = 1
  private var open: [Unicode.Scalar] = []
  /// Each name in the code, outside of texts and comments.
  private(set) var names: [String] = []
  /// What stands in the texts, as it is written.
  private(set) var texts: [String] = []

  init(_ text: String, _ language: CodeLanguage) {
    self.language = language
    scalars = Array(text.unicodeScalars)
  }

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }
  private var following: Unicode.Scalar? { place + 1 < scalars.count ? scalars[place + 1] : nil }

  private mutating func take() -> Unicode.Scalar? {
    guard let next else { return nil }
    place += 1
    if next == "\n" { line += 1 }
    return next
  }

  mutating func scan() throws(Fault) {
    while let scalar = next {
      switch scalar {
      case "/" where following == "/": try scanLineComment()
      case "/" where following == "*": try scanComment()
      case "\"": try scanText()
      case " ", "\n": _ = take()
      case "(", "[", "{":
        open.append(scalar)
        _ = take()
      case ")", "]", "}":
        let expected: Unicode.Scalar = scalar == ")" ? "(" : scalar == "]" ? "[" : "{"
        guard open.popLast() == expected else { throw fault("'\(scalar)' closes nothing") }
        _ = take()
      case "'":
        // The code around has texts of one sign in Kotlin.
        guard language == .kotlin, scalars[place + 2] == "'" else { throw fault("a text in '") }
        place += 3
      case _ where isNameHead(scalar): scanName()
      case _
      where scalar.isASCII && "0123456789.,:;=?!<>|&+-*@_$#%^~".unicodeScalars.contains(scalar):
        _ = take()
      default: throw fault("U+\(String(scalar.value, radix: 16)) stands in the code")
      }
    }
    guard open.isEmpty else { throw fault("'\(open)' is left open") }
  }

  private func fault(_ reason: String) -> Fault { Fault(line: line, reason: reason) }

  private func isNameHead(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_" || scalar == "@"
      || (!scalar.isASCII && language != .dart && scalar.properties.isXIDStart
        && !scalar.properties.isDefaultIgnorableCodePoint)
  }

  private mutating func scanName() {
    let start = place
    place += 1
    while let scalar = next, isNameHead(scalar) || ("0"..."9").contains(scalar) { _ = take() }
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars[start..<place])
    names.append(String(name))
  }

  private mutating func scanLineComment() throws(Fault) {
    while let scalar = next, scalar != "\n" { try checkSeen(take() ?? scalar) }
  }

  private mutating func scanComment() throws(Fault) {
    var depth = 0
    repeat {
      guard let scalar = take() else { throw fault("a comment is left open") }
      if scalar != "\n" { try checkSeen(scalar) }
      if scalar == "/", next == "*", depth == 0 || language != .typescript {
        _ = take()
        depth += 1
      } else if scalar == "*", next == "/" {
        _ = take()
        depth -= 1
      }
    } while depth > 0
  }

  private mutating func scanText() throws(Fault) {
    _ = take()
    var text = ""
    while true {
      guard let scalar = take(), scalar != "\n" else { throw fault("a text is left open") }
      if scalar == "\"" { break }
      try checkSeen(scalar)
      text.unicodeScalars.append(scalar)
      if scalar == "\\" {
        guard let escaped = take() else { throw fault("a text is left open") }
        let known = language == .dart || language == .kotlin ? "\"\\nrtu$" : "\"\\nrtu"
        // The code around puts names into texts by itself, but never by a backslash.
        guard known.unicodeScalars.contains(escaped) else { throw fault("\\\(escaped) in a text") }
        text.unicodeScalars.append(escaped)
      } else if scalar == "$", language == .dart || language == .kotlin {
        // So do the fixed parts of Dart and Kotlin, which the table has no part in.
        try skipInsert()
      }
    }
    texts.append(text)
  }

  /// `$path` and `${…}`, of which the fixed parts have a few.
  private mutating func skipInsert() throws(Fault) {
    let inserts = [
      "path.", "path[", "name.", "name ", "path ", "expected;", "index]", "{json == null ? ",
      "{if (json == null) ",
    ]
    for insert in inserts where scalars[place...].starts(with: insert.unicodeScalars) {
      guard insert.hasPrefix("{") else { return }
      var depth = 0
      repeat {
        guard let scalar = take() else { throw fault("a text is left open") }
        if scalar == "{" { depth += 1 }
        if scalar == "}" { depth -= 1 }
      } while depth > 0
      return
    }
    if scalars[place...].starts(with: "name\"".unicodeScalars) { return }
    throw fault("a $ in a text")
  }

  /// Nothing that is not seen, or that turns the text around, stands anywhere.
  private func checkSeen(_ scalar: Unicode.Scalar) throws(Fault) {
    let isJoiner =
      scalar == "\u{200C}" || scalar == "\u{200D}" || ("\u{FE00}"..."\u{FE0F}").contains(scalar)
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      if isJoiner { return }
      throw fault("U+\(String(scalar.value, radix: 16)) is written as it is")
    default: return
    }
  }
}

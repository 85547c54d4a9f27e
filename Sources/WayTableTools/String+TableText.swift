// Sanitizing an author's strings for code, comments and pages.

extension Unicode.Scalar {
  /// Whether it is invisible, or moves adjacent characters: controls, direction marks, line
  /// separators, unassigned code points, and all spaces except U+0020.
  var isInvisible: Bool {
    if properties.isDefaultIgnorableCodePoint { return true }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
      .surrogate:
      return true
    case .spaceSeparator: return self != " "
    default: return false
    }
  }

  /// Whether it combines with the previous character.
  var isCombiningMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: true
    default: false
    }
  }

  /// The value in hexadecimal digits, without leading zeros.
  var hex: String { String(value, radix: 16, uppercase: true) }

  /// Whether it is a joiner or variation selector, as in composed emoji and in scripts that need
  /// them.
  fileprivate var isJoiner: Bool {
    self == "\u{200C}" || self == "\u{200D}" || ("\u{FE00}"..."\u{FE0F}").contains(self)
  }
}

extension String {
  /// The lines of a text for people, with invisible characters escaped as `\u{202E}`. Spaces at
  /// both ends of a line, and empty lines at both ends of the text, are removed.
  var visibleLines: [String] {
    var lines = [""]
    for scalar in unicodeScalars {
      switch scalar {
      case "\n", "\u{85}", "\u{2028}", "\u{2029}": lines.append("")
      case "\r", "\t", "\u{A0}": lines[lines.count - 1] += " "
      case _ where scalar.isInvisible && !scalar.isJoiner:
        lines[lines.count - 1] += "\\u{\(scalar.hex)}"
      default: lines[lines.count - 1].unicodeScalars.append(scalar)
      }
    }
    let trimmed = lines.map(\.trimmed)
    guard let first = trimmed.firstIndex(where: { !$0.isEmpty }),
      let last = trimmed.lastIndex(where: { !$0.isEmpty })
    else { return [] }
    return Array(trimmed[first...last])
  }

  /// The text on one line, with invisible characters escaped.
  var visible: String { visibleLines.filter { !$0.isEmpty }.joined(separator: " ") }

  private var trimmed: String {
    var rest = Substring(self).unicodeScalars
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }

  /// The text with a space wherever an asterisk and a slash meet, so that it neither ends nor
  /// begins a comment.
  var withoutCommentMarks: String {
    var result = ""
    var last: Unicode.Scalar?
    for scalar in unicodeScalars {
      if (last == "*" && scalar == "/") || (last == "/" && scalar == "*") { result += " " }
      result.unicodeScalars.append(scalar)
      last = scalar
    }
    return result
  }

  /// The text in quotation marks, as a literal of a language. Quotation marks, backslashes and the
  /// characters in `escapes` get a backslash. `invisible` writes invisible characters.
  func quoted(escaping escapes: Set<Unicode.Scalar>, invisible: (Unicode.Scalar) -> String)
    -> String
  {
    var result = "\""
    for (index, scalar) in unicodeScalars.enumerated() {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where escapes.contains(scalar): result += "\\\(scalar)"
      // A combining mark at the start would combine with the quotation mark.
      case _ where scalar.isInvisible || (index == 0 && scalar.isCombiningMark):
        result += invisible(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

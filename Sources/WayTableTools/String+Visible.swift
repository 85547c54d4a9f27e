// What an author of a table writes, made harmless where it stands in code, a comment or a page.

extension Unicode.Scalar {
  /// Whether it stands for nothing that one sees, or moves what stands beside it: controls, marks of
  /// direction, line separators, blanks other than the space, code points without a meaning.
  var isUnseen: Bool {
    if properties.isDefaultIgnorableCodePoint { return true }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
      .surrogate:
      return true
    case .spaceSeparator: return self != " "
    default: return false
    }
  }

  /// Whether it joins the character before it.
  var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: true
    default: false
    }
  }

  /// In hexadecimal digits, without zeros before them.
  var hex: String { String(value, radix: 16, uppercase: true) }

  /// Of emoji of several parts, and of scripts that need them: the joiners and what chooses between
  /// the forms of a character.
  fileprivate var isJoiner: Bool {
    self == "\u{200C}" || self == "\u{200D}" || ("\u{FE00}"..."\u{FE0F}").contains(self)
  }
}

extension String {
  /// The lines of a text for people, without what is not seen: that is written out, `\u{202E}`.
  /// Blanks at both ends of a line, and lines without text at both ends, are gone.
  var visibleLines: [String] {
    var lines = [""]
    for scalar in unicodeScalars {
      switch scalar {
      case "\n", "\u{85}", "\u{2028}", "\u{2029}": lines.append("")
      case "\r", "\t", "\u{A0}": lines[lines.count - 1] += " "
      case _ where scalar.isUnseen && !scalar.isJoiner:
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

  /// The text on one line, without what is not seen.
  var visible: String { visibleLines.filter { !$0.isEmpty }.joined(separator: " ") }

  private var trimmed: String {
    var rest = Substring(self).unicodeScalars
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }

  /// The text with a blank wherever an asterisk and a slash meet, so that it neither ends a comment
  /// nor begins one in it.
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

  /// In quotation marks, as a literal of a language: what it `escapes`, quotation marks and
  /// backslashes with a backslash, what is not seen as `unseen` writes it.
  func quoted(escaping escapes: Set<Unicode.Scalar>, unseen: (Unicode.Scalar) -> String) -> String {
    var result = "\""
    for (index, scalar) in unicodeScalars.enumerated() {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where escapes.contains(scalar): result += "\\\(scalar)"
      // One at the beginning would join the quotation mark.
      case _ where scalar.isUnseen || (index == 0 && scalar.isMark): result += unseen(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

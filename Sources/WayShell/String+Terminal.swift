/// What of a text a terminal may be given: a peer's text may hold what moves the cursor, colours the
/// screen or turns the order of characters.
extension String {
  /// So many combining marks are kept on one character: more of them grow over other lines.
  private static let maxMarks = 2

  /// The text on one line, at most `columns` wide, without anything that a terminal obeys; where it is
  /// cut, `…` is the last character.
  package func shown(columns: Int = 4096) -> String {
    guard columns > 0 else { return "" }
    var shown = ""
    // The text as it is where the last column is left free.
    var short = shown
    var width = 0
    var marks = 0
    for scalar in unicodeScalars {
      guard let visible = scalar.visible else { continue }
      let more = visible.columns
      marks = more == 0 ? marks + 1 : 0
      if marks > Self.maxMarks { continue }
      width += more
      guard width <= columns else { return short + "…" }
      shown.unicodeScalars.append(visible)
      if width < columns { short = shown }
    }
    return shown
  }

  /// The columns that a text takes which ``shown(columns:)`` has given.
  package var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// Cut or filled with spaces to be exactly so wide.
  package func fitted(to columns: Int) -> String {
    let text = shown(columns: columns)
    return text + String(repeating: " ", count: max(0, columns - text.columns))
  }
}

extension Unicode.Scalar {
  private static let replacement: Unicode.Scalar = "\u{FFFD}"

  /// What is shown in its place; nil for what only changes how another is drawn.
  fileprivate var visible: Unicode.Scalar? {
    switch value {
    // The pictures of control characters.
    case 0..<0x20: return Unicode.Scalar(0x2400 + value)
    case 0x7F: return "\u{2421}"
    // Joiners and variation selectors.
    case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: return nil
    default: break
    }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
      .surrogate:
      Self.replacement
    default: self
    }
  }

  /// How many columns terminals give it: those of UAX #11 that are wide two, and marks none.
  fileprivate var columns: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: 0
    default: isWide ? 2 : 1
    }
  }

  private var isWide: Bool {
    guard value >= 0x1100 else { return false }
    return switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      true
    default: properties.isEmojiPresentation
    }
  }
}

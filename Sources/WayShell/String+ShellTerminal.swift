/// Sanitizing text for a terminal. A peer's text may contain sequences that move the cursor, colour
/// the screen or change the order of characters.
extension String {
  /// Maximum number of combining marks of one character. More of them would extend over other
  /// lines.
  private static let maxMarks = 2

  /// The text on one line, at most `columns` wide, without control characters. If it is cut, `…` is
  /// the last character.
  package func sanitized(columns: Int = 4096) -> String {
    guard columns > 0 else { return "" }
    var shown = ""
    // The text that leaves the last column free.
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

  /// The width in columns of a text from ``sanitized(columns:)``.
  package var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// The text, cut or padded with spaces to exactly this width.
  package func fitted(to columns: Int) -> String {
    let text = sanitized(columns: columns)
    return text + String(repeating: " ", count: max(0, columns - text.columns))
  }
}

extension Unicode.Scalar {
  private static let replacement: Unicode.Scalar = "\u{FFFD}"

  /// The scalar to show instead; `nil` for one that only changes how another is drawn.
  fileprivate var visible: Unicode.Scalar? {
    switch value {
    // The symbols for control characters.
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

  /// The width in columns: two for wide characters of UAX #11, zero for combining marks.
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

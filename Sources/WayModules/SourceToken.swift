/// A token of Swift source, as far as declarations are concerned.
struct SourceToken {
  enum Kind {
    /// A keyword or an identifier.
    case word
    /// An identifier between backticks, which its text includes.
    case escapedWord
    /// A string without escapes and interpolations, which is its text.
    case string
    /// A number, or, without text, any other string or a regular expression.
    case literal
    case punctuation
    /// `#if`, `#elseif`, `#else` or `#endif`, without the `#`.
    case directive
  }

  let kind: Kind
  let text: String
  let place: SourcePlace
  /// Whether nothing stands between this token and the one before it.
  let isAdjacent: Bool
  /// Whether it is the first of its line.
  let startsLine: Bool

  func isWord(_ text: String) -> Bool { kind == .word && self.text == text }
  func isPunctuation(_ text: String) -> Bool { kind == .punctuation && self.text == text }
  var isName: Bool { kind == .word || kind == .escapedWord }
}

/// A place in a file; both numbers count from 1, columns in bytes.
struct SourcePlace: Equatable {
  let file: String
  let line: Int
  let column: Int
}

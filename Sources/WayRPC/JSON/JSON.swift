import WayValues

/// JSON text (RFC 8259) to values.
///
/// Strict: UTF-8 without a byte order mark, no trailing commas, no comments, no lone surrogates.
/// Numbers keep their digits.
package enum JSON {
  /// What becomes of a name that stands in an object more than once.
  package enum Names: Sendable {
    /// The last value counts, at the first one's place.
    case lastCounts
    /// The text is refused: for what is signed or decides on rights, where another reader might
    /// take the first value.
    case differ
  }

  /// The deepest nesting of arrays and objects that is ever read or written of a peer.
  package static let maxDepth = 128
  /// That of what the server writes for itself, in which a peer's values stand.
  package static let maxKeptDepth = 160

  /// Parses one whole text. `maxDepth` is how many arrays and objects may be nested; above
  /// ``maxKeptDepth`` it has no effect.
  package static func parse(
    _ bytes: RawSpan, maxDepth: Int = JSON.maxDepth, names: Names = .lastCounts
  ) throws(JSONError) -> Value {
    try TapeCursor.read(bytes) { (cursor) throws(JSONError) in
      try cursor.check(maxDepth: maxDepth)
      let value = cursor.value(at: TapeCursor.root)
      if names == .differ, let path = cursor.repeatedMember(at: TapeCursor.root, .root) {
        throw JSONError("\(path): the member comes twice in its object; remove one")
      }
      return value
    }
  }

  /// Parses the UTF-8 bytes of a text.
  package static func parse(
    _ text: String, maxDepth: Int = JSON.maxDepth, names: Names = .lastCounts
  ) throws(JSONError) -> Value {
    try parse(Array(text.utf8).span.bytes, maxDepth: maxDepth, names: names)
  }
}

import WayValues

/// A parser of JSON text (RFC 8259) to values.
///
/// Strict: UTF-8 without a byte order mark, no trailing commas, no comments, no lone surrogates.
/// Numbers keep their digits.
package enum JSON {
  /// The treatment of a name that occurs in an object more than once.
  package enum DuplicateNamePolicy: Sendable {
    /// The last value counts, at the first one's place.
    case lastWins
    /// The text is rejected: for data that is signed or decides on rights, since another parser
    /// might use the first value.
    case reject
  }

  /// The maximum nesting of arrays and objects in the messages of a peer.
  package static let maxDepth = 128
  /// The maximum nesting in text that the server writes for itself, which contains a peer's values.
  package static let maxStoredDepth = 160

  /// Parses a whole text. `maxDepth` is the maximum nesting of arrays and objects; above
  /// ``maxStoredDepth`` it has no effect.
  package static func parse(
    _ bytes: RawSpan, maxDepth: Int = JSON.maxDepth, duplicateNames: DuplicateNamePolicy = .lastWins
  ) throws(JSONError) -> Value {
    try JSONTapeCursor.read(bytes) { (cursor) throws(JSONError) in
      try cursor.check(maxDepth: maxDepth)
      let value = cursor.value(at: JSONTapeCursor.root)
      if duplicateNames == .reject,
        let path = cursor.firstDuplicateMember(at: JSONTapeCursor.root, .root)
      {
        throw JSONError("\(path): the member comes twice in its object; remove one")
      }
      return value
    }
  }

  /// Parses the UTF-8 bytes of a text.
  package static func parse(
    _ text: String, maxDepth: Int = JSON.maxDepth, duplicateNames: DuplicateNamePolicy = .lastWins
  ) throws(JSONError) -> Value {
    try parse(Array(text.utf8).span.bytes, maxDepth: maxDepth, duplicateNames: duplicateNames)
  }
}

extension JSON {
  /// Returns a value as compact text. Fails if it nests more than ``maxDepth`` arrays and objects.
  package static func text(_ value: Value) throws(EncodingFailure) -> String {
    var writer = JSONWriter()
    try writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

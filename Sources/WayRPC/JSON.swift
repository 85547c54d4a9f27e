import WayValues

/// JSON text (RFC 8259) to values.
///
/// Strict: UTF-8 without a byte order mark, no trailing commas, no comments, no lone surrogates.
/// Numbers keep their digits. Of a name that comes twice in an object, the last value counts.
package enum JSON {
  /// The deepest nesting of arrays and objects that is ever read or written.
  package static let maxDepth = 128

  /// Parses one whole text. `maxDepth` is how many arrays and objects may be nested; above
  /// ``maxDepth`` it has no effect.
  package static func parse(
    _ bytes: RawSpan, maxDepth: Int = JSON.maxDepth
  ) throws(JSONError) -> Value {
    try TapeCursor.read(bytes, maxDepth: maxDepth) { (cursor) throws(JSONError) in
      try cursor.value(at: TapeCursor.root, level: 0)
    }
  }

  /// Parses the UTF-8 bytes of a text.
  package static func parse(
    _ text: String, maxDepth: Int = JSON.maxDepth
  ) throws(JSONError) -> Value {
    try parse(Array(text.utf8).span.bytes, maxDepth: maxDepth)
  }

  /// As ``parse(_:maxDepth:)-(RawSpan,_)``, for a document in which no member may get lost: fails
  /// where an object names one twice, which is told with its place.
  package static func parse(distinct bytes: RawSpan) throws(JSONError) -> Value {
    try TapeCursor.read(bytes, maxDepth: maxDepth) { (cursor) throws(JSONError) in
      let value = try cursor.value(at: TapeCursor.root, level: 0)
      if let path = cursor.repeatedMember(at: TapeCursor.root, .root) {
        throw JSONError("\(path): the member comes twice in its object; remove one")
      }
      return value
    }
  }
}

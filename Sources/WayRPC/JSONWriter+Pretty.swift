import WayValues

extension JSONWriter {
  /// Appends a value for people to read: two spaces a level, one member or element a line. Fails as ``write(_:maxDepth:)`` does.
  package mutating func writePretty(_ value: Value) throws(EncodingFailure) {
    try writePretty(value, level: 0)
  }

  private mutating func writePretty(_ value: Value, level: Int) throws(EncodingFailure) {
    switch value {
    case .list(let values) where !values.isEmpty:
      try lines(values, "[", "]", level) { (writer, value) throws(EncodingFailure) in
        try writer.writePretty(value, level: level + 1)
      }
    case .object(let object) where !object.isEmpty:
      try lines(object.members, "{", "}", level) { (writer, member) throws(EncodingFailure) in
        writer.write(member.name)
        writer.raw(": ")
        try writer.writePretty(member.value, level: level + 1)
      }
    default: try write(value, maxDepth: JSON.maxDepth - level)
    }
  }

  private mutating func lines<Element>(
    _ elements: [Element], _ open: String, _ close: String, _ level: Int,
    _ write: (inout JSONWriter, Element) throws(EncodingFailure) -> Void
  ) throws(EncodingFailure) {
    if level >= JSON.maxDepth { throw .tooDeep }
    raw(open)
    var separator = "\n"
    for element in elements {
      raw(separator)
      separator = ",\n"
      raw(String(repeating: "  ", count: level + 1))
      try write(&self, element)
    }
    raw("\n" + String(repeating: "  ", count: level) + close)
  }
}

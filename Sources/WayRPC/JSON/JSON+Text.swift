import WayValues

extension JSON {
  /// Returns a value as compact text. Fails if it nests more than ``maxDepth`` arrays and objects.
  package static func text(_ value: Value) throws(EncodingFailure) -> String {
    var writer = JSONWriter()
    try writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

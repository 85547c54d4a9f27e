import WayValues

extension JSON {
  /// A value as compact text. Fails when it nests more than ``maxDepth`` arrays and objects.
  package static func text(_ value: Value) throws(EncodingFailure) -> String {
    var writer = JSONWriter()
    try writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// Reads the beginning of messages as ``MessageWriter`` and ``Outbox`` write them.
package enum ResponseIDReader {
  /// Returns the ids of the requests that a numbered frame responds to, in the order of the batch;
  /// none if it holds no responses.
  package static func responseIDs(in frame: RawSpan) -> [RequestID] {
    guard frame.byteCount > 0 else { return [] }
    guard frame.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "[") else {
      return responseID(in: frame).map { [$0] } ?? []
    }
    guard let batch = (try? JSON.parse(frame, maxDepth: JSON.maxStoredDepth))?.array else {
      return []
    }
    return batch.compactMap { message in
      message["method"] == nil ? message["id"].flatMap(RequestID.init) : nil
    }
  }

  /// Reads no further than the id of a message, since a long text may follow.
  private static func responseID(in message: RawSpan) -> RequestID? {
    message.withUnsafeBytes { bytes in
      var rest = bytes[...]
      guard rest.starts(with: MessageWriter.messagePrefix) else { return nil }
      rest = rest.dropFirst(MessageWriter.messagePrefix.count)
      if rest.starts(with: #","seq":"#.utf8) {
        rest = rest.dropFirst(7).drop { $0 != UInt8(ascii: ",") }
      }
      guard rest.starts(with: #","id":"#.utf8) else { return nil }
      rest = rest.dropFirst(6)
      let text = rest.prefix(idLength(rest))
      rest = rest.dropFirst(text.count)
      guard rest.starts(with: #","result":"#.utf8) || rest.starts(with: #","error":"#.utf8) else {
        return nil
      }
      return (try? JSON.parse(Array(text).span.bytes)).flatMap(RequestID.init)
    }
  }

  private static func idLength(_ text: Slice<UnsafeRawBufferPointer>) -> Int {
    guard text.first == UInt8(ascii: "\"") else {
      return text.prefix { $0 != UInt8(ascii: ",") }.count
    }
    var length = 1
    var isEscaped = false
    for byte in text.dropFirst() {
      length += 1
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        break
      }
    }
    return length
  }
}

/// Reads the beginning of messages as ``MessageWriter`` and ``Outbox`` write them.
package enum MessageIDReader {
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

  /// Returns a numbered request as a notification with the same number, if its id is one of `ids`.
  /// A batch stays as it is.
  package static func notification(
    of message: RawSpan, whoseIDIsIn ids: Set<RequestID>
  ) -> [UInt8]? {
    guard let head = readHead(message), head.isRequest, ids.contains(head.id) else { return nil }
    var text = message.withUnsafeBytes { [UInt8]($0) }
    text.removeSubrange(head.member)
    return text
  }

  private static func responseID(in message: RawSpan) -> RequestID? {
    guard let head = readHead(message), !head.isRequest else { return nil }
    return head.id
  }

  /// The id of a request or a response.
  private struct MessageHead {
    let id: RequestID
    /// The place of the id in the text, with the comma before its name.
    let member: Range<Int>
    let isRequest: Bool
  }

  /// Reads no further than the id of a message, since a long text may follow. Returns nil for a
  /// message without an id.
  private static func readHead(_ message: RawSpan) -> MessageHead? {
    message.withUnsafeBytes { bytes in
      var rest = bytes[...]
      guard rest.starts(with: MessageWriter.messagePrefix) else { return nil }
      rest = rest.dropFirst(MessageWriter.messagePrefix.count)
      if rest.starts(with: #","seq":"#.utf8) {
        rest = rest.dropFirst(7).drop { $0 != UInt8(ascii: ",") }
      }
      let start = rest.startIndex
      guard rest.starts(with: #","id":"#.utf8) else { return nil }
      rest = rest.dropFirst(6)
      let text = rest.prefix(idLength(rest))
      rest = rest.dropFirst(text.count)
      let isRequest = rest.starts(with: #","method":"#.utf8)
      guard
        isRequest || rest.starts(with: #","result":"#.utf8)
          || rest.starts(with: #","error":"#.utf8),
        let id = (try? JSON.parse(Array(text).span.bytes)).flatMap(RequestID.init)
      else { return nil }
      return MessageHead(id: id, member: start..<rest.startIndex, isRequest: isRequest)
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

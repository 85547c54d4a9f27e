/// The way in which the body of a streamed response is delimited (RFC 9112 §6.3).
enum StreamFraming {
  /// By the transfer coding chunked.
  case chunked
  /// By the end of the connection, for clients of HTTP/1.0.
  case connectionEnd

  /// Appends a part of the body, which is not empty: an empty chunk would end the body.
  func append(_ part: [UInt8], to buffer: inout OutboundBuffer) {
    guard case .chunked = self else { return buffer.append(part.span.bytes) }
    buffer.append(Array((String(part.count, radix: 16) + "\r\n").utf8).span.bytes)
    buffer.append(part.span.bytes)
    buffer.append(Self.lineEnd.span.bytes)
  }

  /// Appends what marks the end of the body.
  func appendEnd(to buffer: inout OutboundBuffer) {
    if case .chunked = self { buffer.append(Self.lastChunk.span.bytes) }
  }

  private static let lineEnd = Array("\r\n".utf8)
  private static let lastChunk = Array("0\r\n\r\n".utf8)
}

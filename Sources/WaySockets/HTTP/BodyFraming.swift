/// The way in which the body of a request is delimited (RFC 9112 §6).
enum BodyFraming: Hashable {
  case none
  /// By Content-Length, in bytes.
  case length(Int)
  /// By the transfer coding chunked.
  case chunked

  /// Throws if a proxy could delimit the body differently: then a part of it would be a request to
  /// one of the two.
  init(_ head: RequestHead) throws(HTTPRequestRejection) {
    let lengths = head.values("content-length")
    let codings = head.values("transfer-encoding")
    guard codings.isEmpty else {
      guard lengths.isEmpty else {
        throw HTTPRequestRejection(
          400, "a request must not have both Content-Length and Transfer-Encoding")
      }
      guard head.minorVersion == 1 else {
        throw HTTPRequestRejection(400, "a request of HTTP/1.0 must not have Transfer-Encoding")
      }
      try Self.check(codings)
      self = .chunked
      return
    }
    guard let length = lengths.first else {
      self = .none
      return
    }
    guard lengths.count == 1, (1...18).contains(length.utf8.count),
      length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bytes = Int(length)
    else { throw HTTPRequestRejection(400, "the Content-Length header is not a number") }
    self = .length(bytes)
  }

  /// Throws unless the values of Transfer-Encoding consist of `chunked`, once.
  private static func check(_ values: [String]) throws(HTTPRequestRejection) {
    let codings = values.flatMap {
      $0.utf8.split(separator: 0x2C, omittingEmptySubsequences: false)
    }.map { String(decoding: $0, as: UTF8.self).trimmed().asciiLowercased() }
    // Not compared as strings: Swift treats some other characters as equal to letters.
    let chunked = Array("chunked".utf8)
    guard codings.allSatisfy({ $0.isEmpty || Array($0.utf8) == chunked }) else {
      throw HTTPRequestRejection(
        501, "chunked is the only transfer coding that the server supports")
    }
    guard codings.count == 1, codings.first?.isEmpty == false else {
      throw HTTPRequestRejection(400, "the Transfer-Encoding header must contain chunked once")
    }
  }

  /// Whether bytes follow the head.
  var hasBytes: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}

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

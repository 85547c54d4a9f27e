import Glibc
import WayTransport

/// The response to one request.
struct OutgoingResponse {
  var status: Int
  var fields: [(String, String)] = []
  var body: [UInt8] = []
  /// Sent instead of `body`.
  var file: ServedOpenFile?
  /// The bytes of the file to send; `nil` for all.
  var fileBytes: Range<Int>?
  /// The parts that are sent instead of `body`.
  var stream: HTTPResponseStream?
  /// For HEAD, and for statuses without a body: Content-Length is sent, the body is not.
  var isHeadOnly = false
  var endsConnection = false

  init(status: Int) {
    self.status = status
  }

  /// A plain text response that ends with a line feed.
  init(status: Int, text: String) {
    self.status = status
    fields = [("Content-Type", "text/plain; charset=utf-8")]
    body = Array((text + "\n").utf8)
  }

  init(_ response: HTTPResponse) {
    self.init(status: response.status)
    fields = [("Cache-Control", "no-store")] + response.fields
    if let type = response.contentType { fields.append(("Content-Type", type)) }
    body = response.body
    stream = response.stream
    // Otherwise nginx would hold back the parts.
    if stream != nil { fields.append(("X-Accel-Buffering", "no")) }
  }

  init(rejection: HTTPRequestRejection) {
    self.init(status: rejection.status, text: rejection.reason)
    if rejection.status == 426 {
      fields += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    }
    endsConnection = true
  }

  /// Sends as much as the socket accepts immediately, and closes it; for rejected connections.
  func sendAndClose(_ descriptor: Int32) {
    let bytes = bytes(headers: [], keepsAlive: false)
    _ = bytes.withUnsafeBytes { bytes in
      send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    // Closing a socket with unread input would reset the connection.
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
      _ = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
    close(descriptor)
  }

  /// The head, followed by the body unless that is a file or a stream.
  ///
  /// - Parameters:
  ///   - headers: Further header fields.
  ///   - framing: How a stream is delimited.
  ///   - keepsAlive: Whether another request may follow on the connection.
  func bytes(
    headers: [(name: String, value: String)], framing: StreamFraming = .chunked, keepsAlive: Bool
  ) -> [UInt8] {
    var head = ResponseHead(status: status, fields: fields)
    head.fields.append(("X-Content-Type-Options", "nosniff"))
    for (name, value) in headers { head.fields.append((name, value)) }
    let fileSize = fileBytes?.count ?? file?.size
    if stream != nil {
      return head.bytes(
        contentLength: nil, isChunked: framing == .chunked, keepsAlive: keepsAlive)
    }
    let length = [101, 204, 304].contains(status) ? nil : fileSize ?? body.count
    let bytes = head.bytes(contentLength: length, keepsAlive: keepsAlive)
    return isHeadOnly || file != nil ? bytes : bytes + body
  }
}

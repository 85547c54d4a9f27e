import Glibc
import WayTransport

/// What is sent for one request.
struct OutgoingResponse {
  var status: Int
  var fields: [(String, String)] = []
  var body: [UInt8] = []
  /// Sent instead of `body`.
  var file: ServedOpenFile?
  /// For HEAD, and for statuses that have no body: the length is told, the body is not sent.
  var isHeadOnly = false
  var endsConnection = false

  init(status: Int) {
    self.status = status
  }

  /// Plain text that ends with a line feed.
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
  }

  init(fault: RequestFault) {
    self.init(status: fault.status, text: fault.reason)
    if fault.status == 426 {
      fields += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    }
    endsConnection = true
  }

  /// Sends what the socket takes at once, and closes it: for those that are not let in.
  func sendAndClose(_ descriptor: Int32) {
    let bytes = bytes(headers: [], keepsAlive: false)
    _ = bytes.withUnsafeBytes { bytes in
      send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    // What was sent and is not read would make a reset of the end.
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
      _ = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
    close(descriptor)
  }

  /// The head, and the body where it is not a file.
  func bytes(
    headers: [(name: String, value: String)], keepsAlive: Bool
  ) -> [UInt8] {
    var head = ResponseHead(status: status, fields: fields)
    head.fields.append(("X-Content-Type-Options", "nosniff"))
    for (name, value) in headers { head.fields.append((name, value)) }
    let length = [101, 204, 304].contains(status) ? nil : file?.size ?? body.count
    let bytes = head.bytes(contentLength: length, keepsAlive: keepsAlive)
    return isHeadOnly || file != nil ? bytes : bytes + body
  }
}

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
  /// Sent in parts instead of `body`.
  var source: (any HTTPBodySource)?
  /// The number of bytes of all parts.
  private(set) var sourceLength = 0
  /// The memory of a part.
  private(set) var sourceCharge: ByteBudget.Charge?
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

  /// Opens the file of a response, or charges the memory of its parts to a budget. Throws if one of
  /// these fails.
  init(_ response: HTTPResponse, budget: ByteBudget) throws(HTTPRequestRejection) {
    self.init(response)
    if let range = response.file {
      file = try Self.open(range)
      fileBytes = range.bytes
    }
    guard let sourced = response.sourcedBody else { return }
    do throws(ByteBudget.Exhausted) {
      sourceCharge = try budget.charge(HTTPSourcedBody.partSize)
    } catch {
      throw .fullOfBodies
    }
    (source, sourceLength) = (sourced.source, sourced.length)
  }

  /// A response that has neither a file nor parts of a known length.
  init(_ response: HTTPResponse) {
    self.init(status: response.status)
    fields = [("Cache-Control", "no-store")] + response.fields
    if let type = response.contentType { fields.append(("Content-Type", type)) }
    body = response.body
    stream = response.stream
    // Otherwise nginx would hold back the parts.
    if stream != nil { fields.append(("X-Accel-Buffering", "no")) }
  }

  private static func open(_ range: HTTPFileRange) throws(HTTPRequestRejection) -> ServedOpenFile {
    do throws(ServedOpenFile.OpenFileError) {
      let file = try ServedOpenFile(path: range.path)
      if file.kind == .file, file.size >= range.bytes.upperBound { return file }
    } catch .exhausted {
      throw .exhausted
    } catch {}
    throw HTTPRequestRejection(404, "the file is not there any more")
  }

  init(rejection: HTTPRequestRejection) {
    self.init(status: rejection.status, text: rejection.reason)
    if rejection.status == 426 {
      fields += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    }
    endsConnection = true
  }

  /// Whether a response of the status may have a body (RFC 9110 §6.4.1).
  var mayHaveBody: Bool { ![101, 204, 304].contains(status) }

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

  /// The head, followed by the body unless that is a file or comes in parts.
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
    if stream != nil, mayHaveBody {
      return head.bytes(
        contentLength: nil, isChunked: framing == .chunked, keepsAlive: keepsAlive)
    }
    let sentLater = source == nil ? fileBytes?.count ?? file?.size : sourceLength
    let length = mayHaveBody ? sentLater ?? body.count : nil
    let bytes = head.bytes(contentLength: length, keepsAlive: keepsAlive)
    return isHeadOnly || file != nil || source != nil ? bytes : bytes + body
  }
}

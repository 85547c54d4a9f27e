import Glibc
import Synchronization

/// The response to a request of an ``HTTPClientConnection``, without its body.
package struct HTTPClientResponse: Sendable {
  package let status: Int
  /// Names are in lower case.
  let fields: [(name: String, value: String)]
  /// The number of bytes of the body.
  package let length: Int

  /// The first value of a field with this name (lower case).
  package func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// A connection of an HTTP client to the server of a WebSocket URL. Its methods block: do not call them
/// on the thread of an event loop. One thread at a time uses it, except for ``cancel()``.
package final class HTTPClientConnection: Sendable {
  /// Maximum time without progress.
  private static let timeout = 30
  /// Maximum number of bytes of the head of a response.
  private static let maximumHead = 32 * 1024

  private let address: WebSocketAddress
  private let descriptor: Int32
  /// Received bytes of the body, or of its head.
  private let received = Mutex<[UInt8]>([])

  /// Connects to the server. Throws if it cannot be reached.
  package init(url: String) throws(SocketError) {
    address = try WebSocketAddress(url)
    descriptor = try Self.connect(to: address)
  }

  deinit { Glibc.close(descriptor) }

  private static func connect(to address: WebSocketAddress) throws(SocketError) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(address.host, "\(address.port)", &hints, &found)
    guard status == 0 else {
      throw SocketError(
        .system, "the host \(address.host) is unknown: \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(found) }
    var code: Int32 = ECONNREFUSED
    var next = found
    while let candidate = next?.pointee {
      next = candidate.ai_next
      let descriptor = socket(
        candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue),
        candidate.ai_protocol)
      guard descriptor >= 0 else {
        code = errno
        continue
      }
      var limit = timeval(tv_sec: timeout, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
      if Glibc.connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 {
        return descriptor
      }
      code = errno
      Glibc.close(descriptor)
    }
    throw SocketError.errno("connect", code)
  }

  /// Ends what another thread does with the connection.
  package func cancel() { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends a request, and receives the head of its response. The body of the response before must have
  /// been read. `name` replaces the last component of the URL's path, and can have several components.
  package func send(
    _ method: String, _ name: String, _ fields: [(name: String, value: String)],
    body: [UInt8] = []
  ) throws(SocketError) -> HTTPClientResponse {
    let path = address.target.prefix { $0 != "?" }
    let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    var text = "\(method) \(folder)\(name) HTTP/1.1\r\nHost: \(address.authority)\r\n"
    for (name, value) in fields {
      guard (name + value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw SocketError(.invalid, "the header field \(quoted(name)) has a control character")
      }
      text += "\(name): \(value)\r\n"
    }
    try write(Array((text + "Content-Length: \(body.count)\r\n\r\n").utf8))
    try write(body)
    return try readHead(of: method)
  }

  private func write(_ bytes: [UInt8]) throws(SocketError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.send(
          descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
          Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SocketError.errno("send", errno) }
      written += count
    }
  }

  private func readHead(of method: String) throws(SocketError) -> HTTPClientResponse {
    while true {
      let bytes = received.withLock { $0 }
      if let end = RequestHead.end(in: bytes, from: 0) {
        received.withLock { $0 = Array(bytes[end...]) }
        let response = try Self.response(bytes[..<end], to: method)
        // 100 Continue and other interim responses.
        if response.status >= 200 { return response }
      } else {
        guard bytes.count <= Self.maximumHead else { throw Self.malformed }
        let more = try receive(16 * 1024)
        guard !more.isEmpty else { throw SocketError(.ended, "the server closed the connection") }
        received.withLock { $0 += more }
      }
    }
  }

  private static let malformed = SocketError(.system, "the server's response is malformed")

  private static func response(
    _ head: ArraySlice<UInt8>, to method: String
  ) throws(SocketError) -> HTTPClientResponse {
    let lines = head.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    let words = (lines.first ?? []).split(separator: 0x20)
    guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8),
      let status = Int(String(decoding: words[1], as: UTF8.self)), (100...599).contains(status)
    else { throw malformed }
    var fields: [(name: String, value: String)] = []
    for line in lines.dropFirst() where !line.isEmpty {
      do throws(HTTPRequestRejection) { fields.append(try RequestHead.field(line)) } catch {
        throw malformed
      }
    }
    var length = 0
    if method != "HEAD", status >= 200, status != 204, status != 304 {
      let values = fields.filter { $0.name == "content-length" }.map(\.value)
      guard let text = values.first, values.count == 1, text.utf8.count <= 18,
        let number = Int(text), number >= 0
      else { throw malformed }
      length = number
    }
    return HTTPClientResponse(status: status, fields: fields, length: length)
  }

  /// Returns at most `count` bytes of a body that has at least one more.
  package func readBody(_ count: Int) throws(SocketError) -> [UInt8] {
    let held = received.withLock { received in
      let part = Array(received.prefix(count))
      received.removeFirst(part.count)
      return part
    }
    if !held.isEmpty { return held }
    let bytes = try receive(count)
    guard !bytes.isEmpty else { throw SocketError(.ended, "the server closed the connection") }
    return bytes
  }

  /// Receives at most `count` bytes; none at the end of the connection.
  private func receive(_ count: Int) throws(SocketError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var length = -1
    repeat { length = recv(descriptor, &bytes, count, 0) } while length < 0 && errno == EINTR
    guard length >= 0 else { throw SocketError.errno("recv", errno) }
    bytes.removeLast(count - length)
    return bytes
  }
}

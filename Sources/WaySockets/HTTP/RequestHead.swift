/// The request line and the header fields of an HTTP/1 request (RFC 9112), parsed strictly.
struct RequestHead: Hashable {
  var method: String
  /// Host and port of a target in absolute form. They replace the Host header (RFC 9112 §3.2.2).
  var authority: String?
  /// The path as sent, percent-encoded. It begins with a slash.
  var path: String
  /// The part after the first question mark.
  var query: String?
  /// 0 or 1.
  var minorVersion: Int
  /// Names are in lower case, values are trimmed.
  var fields: [(name: String, value: String)]

  static let maximumFields = 100

  /// The values of all fields with this name (lower case), in order.
  func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// The comma-separated elements of all fields with this name, in lower case.
  func list(_ name: String) -> [String] {
    values(name).flatMap { $0.split(separator: ",") }.map { $0.trimmed().asciiLowercased() }
  }

  /// Whether the client requests a WebSocket. A server may ignore other protocols (RFC 9110 §7.8),
  /// and this one ignores h2c.
  var isUpgrade: Bool { list("upgrade").contains("websocket") }

  /// The subprotocols that a WebSocket handshake offers (RFC 6455 §4.1), as sent.
  var subprotocols: [String] {
    values("sec-websocket-protocol").flatMap { $0.split(separator: ",") }.map { $0.trimmed() }
  }

  static func == (left: RequestHead, right: RequestHead) -> Bool {
    left.method == right.method && left.authority == right.authority && left.path == right.path
      && left.query == right.query && left.minorVersion == right.minorVersion
      && left.fields.elementsEqual(right.fields, by: ==)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(method)
    hasher.combine(path)
  }
}

extension RequestHead {
  /// Whether a head may begin with `bytes`, that is, with a method in capital letters. Otherwise
  /// the input is not HTTP.
  static func mayBegin(with bytes: [UInt8]) -> Bool {
    for byte in bytes.prefix(16) {
      if byte == 0x20 { return true }
      if !(0x41...0x5A).contains(byte) { return false }
    }
    return bytes.count < 16
  }

  /// The index after the head's empty line in `bytes`; `nil` if more input is needed. The search
  /// begins at `from`, at most three bytes before the new input.
  static func end(in bytes: [UInt8], from: Int) -> Int? {
    var index = max(from, 0)
    while index + 4 <= bytes.count {
      if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D,
        bytes[index + 3] == 0x0A
      {
        return index + 4
      }
      index += 1
    }
    return nil
  }

  /// Parses a complete head, including its empty line.
  init(parsing bytes: ArraySlice<UInt8>) throws(HTTPRequestRejection) {
    var lines = LineReader(rest: bytes)
    let requestLine = try lines.next()
    let parts = requestLine.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw HTTPRequestRejection(400, "the request line is malformed") }
    guard !parts[0].isEmpty, parts[0].allSatisfy(isTokenByte) else {
      throw HTTPRequestRejection(400, "the method is malformed")
    }
    method = String(decoding: parts[0], as: UTF8.self)
    switch String(decoding: parts[2], as: UTF8.self) {
    case "HTTP/1.1": minorVersion = 1
    case "HTTP/1.0": minorVersion = 0
    default: throw HTTPRequestRejection(505, "only HTTP/1.0 and HTTP/1.1 are supported")
    }
    var target = parts[1]
    authority = try Self.removeAuthority(&target)
    guard target.first == 0x2F || (authority != nil && (target.first ?? 0x3F) == 0x3F),
      target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
    else {
      throw HTTPRequestRejection(
        400, "the request target must be a path that begins with /, or a URI")
    }
    let mark = target.firstIndex(of: 0x3F)
    path = String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self)
    if path.isEmpty { path = "/" }
    query = mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) }
    fields = []
    while true {
      let line = try lines.next()
      if line.isEmpty { break }
      guard fields.count < Self.maximumFields else {
        throw HTTPRequestRejection(431, "more than \(Self.maximumFields) header fields")
      }
      fields.append(try Self.field(line))
    }
  }

  /// Removes scheme and authority from a target in absolute form. Returns `nil` for another form.
  private static func removeAuthority(
    _ target: inout ArraySlice<UInt8>
  ) throws(HTTPRequestRejection) -> String? {
    guard target.first != 0x2F, let colon = target.firstIndex(of: 0x3A),
      target[colon...].starts(with: "://".utf8)
    else { return nil }
    guard String(decoding: target[..<colon], as: UTF8.self).lowercased() == "http" else {
      throw HTTPRequestRejection(400, "a request target in absolute form must begin with http://")
    }
    let rest = target[(colon + 3)...]
    let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
    target = rest[end...]
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Parses one line of the fields, without its line end.
  static func field(
    _ line: ArraySlice<UInt8>
  ) throws(HTTPRequestRejection) -> (name: String, value: String) {
    guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
      line[..<colon].allSatisfy(isTokenByte)
    else { throw HTTPRequestRejection(400, "a header field is malformed") }
    let value = line[(colon + 1)...]
    guard value.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw HTTPRequestRejection(400, "a header field contains a control character")
    }
    return (
      String(decoding: line[..<colon], as: UTF8.self).lowercased(),
      String(decoding: value, as: UTF8.self).trimmed()
    )
  }

  /// Reads lines that end in CR LF. Throws for a CR or LF alone.
  private struct LineReader {
    var rest: ArraySlice<UInt8>

    mutating func next() throws(HTTPRequestRejection) -> ArraySlice<UInt8> {
      guard let feed = rest.firstIndex(of: 0x0A), feed > rest.startIndex, rest[feed - 1] == 0x0D
      else { throw HTTPRequestRejection(400, "a line does not end in CR LF") }
      let line = rest[..<(feed - 1)]
      rest = rest[(feed + 1)...]
      guard !line.contains(0x0D) else { throw HTTPRequestRejection(400, "a line contains a CR") }
      return line
    }
  }
}

/// Whether the byte is a tchar (RFC 9110 §5.6.2).
func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
  case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E:
    true
  default: false
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at both ends (OWS of RFC 9110 §5.6.3).
  func trimmed() -> String {
    let bytes = Array(utf8)
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = bytes.firstIndex(where: { !isSpace($0) }),
      let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// The text with its ASCII letters in lower case. Unlike `lowercased()` it makes an ASCII letter
  /// of no other character.
  func asciiLowercased() -> String {
    String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

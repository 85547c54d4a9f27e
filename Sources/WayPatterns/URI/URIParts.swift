/// The positions of a URI's parts in its text, in bytes; -1 for an absent part.
struct URIParts: Sendable {
  var schemeEnd: Int32 = -1
  var authorityStart: Int32 = -1
  var authorityEnd: Int32 = -1
  var hostStart: Int32 = -1
  var hostEnd: Int32 = -1
  var port: Int32 = -1
  var pathStart: Int32 = 0
  var pathEnd: Int32 = 0
  var queryEnd: Int32 = -1
  var fragmentStart: Int32 = -1

  var hasAuthority: Bool { authorityStart >= 0 }

  /// Checks every byte against RFC 3986 appendix A.
  init(_ bytes: Span<UInt8>) throws(RouteURIError) {
    guard bytes.count <= RouteURI.maxLength else {
      throw RouteURIError(.tooLong, at: RouteURI.maxLength)
    }
    var position = 0
    try readScheme(bytes)
    if schemeEnd >= 0 { position = Int(schemeEnd) + 1 }
    if position + 1 < bytes.count, bytes[position] == .slash, bytes[position + 1] == .slash {
      try readAuthority(bytes, from: position + 2)
      position = Int(authorityEnd)
    }
    pathStart = Int32(position)
    position = try Self.end(of: .path, in: bytes, from: position, to: bytes.count)
    pathEnd = Int32(position)
    if position < bytes.count, bytes[position] == .questionMark {
      position = try Self.end(of: .query, in: bytes, from: position + 1, to: bytes.count)
      queryEnd = Int32(position)
    }
    if position < bytes.count, bytes[position] == .numberSign {
      fragmentStart = Int32(position + 1)
      position = try Self.end(of: .query, in: bytes, from: position + 1, to: bytes.count)
    }
    if position < bytes.count { throw Self.unexpected(bytes[position], at: position) }
  }

  private mutating func readScheme(_ bytes: Span<UInt8>) throws(RouteURIError) {
    var position = 0
    while position < bytes.count {
      let byte = bytes[position]
      if byte == .colon { break }
      if byte == .slash || byte == .questionMark || byte == .numberSign { return }
      position += 1
    }
    guard position < bytes.count else { return }
    let allowed = URIByteSet.scheme
    var checked = 0
    while checked < position, allowed.contains(bytes[checked]) { checked += 1 }
    guard checked == position, bytes[0].isLetter else {
      throw RouteURIError(.badScheme, at: checked == position ? 0 : checked)
    }
    schemeEnd = Int32(position)
  }

  private mutating func readAuthority(_ bytes: Span<UInt8>, from start: Int) throws(RouteURIError) {
    var end = start
    var host = start
    while end < bytes.count {
      let byte = bytes[end]
      if byte == .slash || byte == .questionMark || byte == .numberSign { break }
      if byte == .atSign, host == start { host = end + 1 }
      end += 1
    }
    if host > start {
      let stop = try Self.end(of: .userinfo, in: bytes, from: start, to: host - 1)
      if stop < host - 1 { throw Self.unexpected(bytes[stop], at: stop) }
    }
    authorityStart = Int32(start)
    authorityEnd = Int32(end)
    hostStart = Int32(host)
    let after: Int
    if host < end, bytes[host] == UInt8(ascii: "[") {
      guard let close = URIHostLiteral.closingBracket(in: bytes, from: host + 1, to: end) else {
        throw RouteURIError(.badIPLiteral, at: host)
      }
      after = close + 1
    } else {
      after = try Self.end(of: .name, in: bytes, from: host, to: end)
    }
    hostEnd = Int32(after)
    if after < end { try readPort(bytes, from: after, to: end) }
  }

  private mutating func readPort(
    _ bytes: Span<UInt8>, from colon: Int, to end: Int
  ) throws(RouteURIError) {
    guard bytes[colon] == .colon else { throw Self.unexpected(bytes[colon], at: colon) }
    var value: Int32 = 0
    for position in colon + 1..<end {
      guard bytes[position].isDigit else { throw Self.unexpected(bytes[position], at: position) }
      value = value * 10 + Int32(bytes[position] - 0x30)
      if value > 65_535 { throw RouteURIError(.badPort, at: colon + 1) }
    }
    if end > colon + 1 { port = value }
  }

  /// Returns the first position with a byte that is neither in `allowed` nor part of a triplet.
  private static func end(
    of allowed: URIByteSet, in bytes: Span<UInt8>, from start: Int, to end: Int
  ) throws(RouteURIError) -> Int {
    var position = start
    while position < end {
      let byte = bytes[position]
      if allowed.contains(byte) {
        position += 1
      } else if byte == .percent {
        guard position + 2 < end, bytes[position + 1].hexValue != nil,
          bytes[position + 2].hexValue != nil
        else { throw RouteURIError(.badPercent, at: position) }
        position += 3
      } else {
        break
      }
    }
    return position
  }

  private static func unexpected(_ byte: UInt8, at position: Int) -> RouteURIError {
    RouteURIError(byte < 128 ? .invalidCharacter(byte) : .notASCII, at: position)
  }
}

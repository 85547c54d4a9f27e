/// Takes a pattern apart.
struct RoutePatternReader {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  private(set) var scheme: String?
  private(set) var shape = SplitURI.Shape.rooted
  private(set) var segments: [RoutePattern.Segment] = []
  private(set) var captures: [RoutePattern.Capture] = []

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  mutating func read() throws(RoutePatternError) {
    guard bytes.count <= RouteURI.maxLength else {
      throw RoutePatternError(
        String(text.prefix(40)) + "…", at: RouteURI.maxLength,
        "longer than \(RouteURI.maxLength) bytes")
    }
    if bytes.first != .slash { try readScheme() }
    if scheme != nil, bytes[position...].starts(with: [.slash, .slash]) {
      position += 2
      shape = .authority
      let end = bytes[position...].firstIndex(of: .slash) ?? bytes.count
      try readSegment(to: end, isAuthority: true)
    } else if scheme != nil, position == bytes.count || bytes[position] != .slash {
      shape = .rootless
    }
    try readPath()
  }

  private mutating func readScheme() throws(RoutePatternError) {
    let stop = bytes.firstIndex { !ByteSet.scheme.contains($0) } ?? bytes.count
    guard stop > 0, stop < bytes.count, bytes[stop] == .colon, bytes[0].isLetter else {
      throw failure(
        at: bytes.first?.isLetter == true && stop < bytes.count ? stop : 0,
        "begin with '/' for any scheme, or with a scheme: 'native://…'")
    }
    scheme = String(decoding: bytes[..<stop].map(\.lowercased), as: UTF8.self)
    position = stop + 1
  }

  private mutating func readPath() throws(RoutePatternError) {
    guard position < bytes.count else { return }
    var end = bytes.count
    if bytes[end - 1] == .slash { end -= 1 }
    if bytes[position] == .slash {
      position += 1
      // `/` alone: a path without segments, which looks the same with and without its slash.
      if position > end {
        if shape == .rooted, scheme != nil { shape = .rootless }
        return
      }
    }
    while position <= end {
      guard segments.count < RouteURI.maxSegments else {
        throw failure(at: position, "more than \(RouteURI.maxSegments) segments")
      }
      let stop = bytes[position..<end].firstIndex(of: .slash) ?? end
      try readSegment(to: stop, isAuthority: false)
      position = stop + 1
    }
  }

  private mutating func readSegment(to end: Int, isAuthority: Bool) throws(RoutePatternError) {
    defer { position = end }
    if position < end, bytes[position] == .colon {
      try readParameter(position + 1..<end)
      segments.append(.parameter)
      return
    }
    var literal: [UInt8] = []
    while position < end {
      let byte = try readLiteralByte(to: end, isAuthority: isAuthority)
      literal.append(isAuthority ? byte.lowercased : byte)
    }
    segments.append(.literal(literal))
  }

  private mutating func readParameter(_ range: Range<Int>) throws(RoutePatternError) {
    let name = bytes[range]
    guard let first = name.first, first.isLetter || first == UInt8(ascii: "_"),
      name.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") })
    else {
      throw failure(
        at: range.lowerBound - 1,
        "a parameter is ':' and a name of letters, digits and '_', not beginning with a digit, and takes the"
          + " whole segment; a literal that begins with ':' is written '%3A'")
    }
    let text = String(decoding: name, as: UTF8.self)
    guard !captures.contains(where: { $0.name == text }) else {
      throw failure(at: range.lowerBound - 1, "the parameter ':\(text)' comes twice; rename one")
    }
    captures.append(.init(name: text, segment: segments.count))
  }

  private mutating func readLiteralByte(
    to end: Int, isAuthority: Bool
  ) throws(RoutePatternError) -> UInt8 {
    let byte = bytes[position]
    switch byte {
    case .percent:
      guard position + 2 < end, let high = bytes[position + 1].hexValue,
        let low = bytes[position + 2].hexValue
      else { throw failure(at: position, "'%' needs two hexadecimal digits; a plain '%' is '%25'") }
      guard high | low != 0 else { throw failure(at: position, "'%00' is not allowed") }
      position += 3
      return high << 4 | low
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"):
      let triplet = byte == UInt8(ascii: "*") ? "%2A" : byte == UInt8(ascii: "(") ? "%28" : "%29"
      throw failure(
        at: position,
        "'\(Character(Unicode.Scalar(byte)))' is reserved; a literal one is written '\(triplet)'")
    case .question, .hash:
      throw failure(
        at: position, "a pattern has no query and no fragment; query parameters match by name")
    default:
      let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
      guard byte >= 128 || ByteSet.path.contains(byte) || (isAuthority && isBracket) else {
        throw failure(
          at: position, RouteURIError(.invalidCharacter(byte), at: position).description)
      }
      position += 1
      return byte
    }
  }

  private func failure(at offset: Int, _ reason: String) -> RoutePatternError {
    RoutePatternError(text, at: offset, reason)
  }
}

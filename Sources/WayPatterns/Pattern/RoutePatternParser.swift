/// A parser of patterns.
struct RoutePatternParser {
  private static let openParenthesis = UInt8(ascii: "(")
  private static let closeParenthesis = UInt8(ascii: ")")
  private static let asterisk = UInt8(ascii: "*")
  /// The maximum nesting of groups.
  private static let maxDepth = 8

  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  /// The number of segments so far, including the authority.
  private var count = 0
  private(set) var scheme: String?

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8.prefix(RouteURI.maxLength + 1))
  }

  mutating func parse() throws(RoutePatternError) -> [PatternPart] {
    guard bytes.count <= RouteURI.maxLength else {
      throw RoutePatternError(
        String(text.unicodeScalars.prefix(40)) + "…", at: RouteURI.maxLength,
        "longer than \(RouteURI.maxLength) bytes")
    }
    var parts: [PatternPart] = []
    if bytes.first != .slash, bytes.first != Self.openParenthesis { try readScheme() }
    if scheme != nil, bytes[position...].starts(with: [.slash, .slash]) {
      position += 2
      count = 1
      let start = position
      let (segment, name) = try readSegment(isAuthority: true)
      parts.append(.authority(try normalAuthority(segment, start..<position), name: name))
    } else if scheme != nil, position < bytes.count, bytes[position] != .slash,
      bytes[position] != Self.openParenthesis
    {
      try append(to: &parts, isRooted: false)
    }
    parts += try readPath(depth: 0)
    return parts
  }

  private mutating func readScheme() throws(RoutePatternError) {
    let stop = bytes.firstIndex { !URIByteSet.scheme.contains($0) } ?? bytes.count
    guard stop > 0, stop < bytes.count, bytes[stop] == .colon, bytes[0].isLetter else {
      throw failure(
        at: bytes.first?.isLetter == true && stop < bytes.count ? stop : 0,
        "begin with \"/\" for any scheme, or with a scheme: \"native://…\"")
    }
    scheme = String(decoding: bytes[..<stop].map(\.lowercased), as: UTF8.self)
    position = stop + 1
  }

  /// Returns a literal authority as it is in the normal form of a URI. Other authorities would match
  /// no URI.
  private func normalAuthority(
    _ segment: RoutePattern.PatternSegment, _ range: Range<Int>
  ) throws(RoutePatternError) -> RoutePattern.PatternSegment {
    guard case .literal(var literal) = segment else { return segment }
    if let at = bytes[range].firstIndex(of: .atSign) {
      throw failure(at: at, "a pattern has no user information; remove it, it is not compared")
    }
    if literal.last == .colon, bytes[range].last == .colon { literal.removeLast() }
    guard let scheme, RouteURI.defaultPort(of: scheme) != nil else { return .literal(literal) }
    let text = String(decoding: bytes[range], as: UTF8.self)
    do {
      let authority = try RouteURI(mapping: "\(scheme)://\(text)").authority ?? ""
      return .literal(authority.utf8.map(\.lowercased))
    } catch {
      throw failure(at: range.lowerBound, "a URI with this authority is rejected: \(error)")
    }
  }

  /// Reads segments with their slashes, and groups, up to the end or the parenthesis that closes
  /// this group.
  private mutating func readPath(depth: Int) throws(RoutePatternError) -> [PatternPart] {
    var parts: [PatternPart] = []
    while position < bytes.count {
      switch bytes[position] {
      case .slash:
        position += 1
        if position < bytes.count,
          bytes[position] == Self.openParenthesis || bytes[position] == Self.closeParenthesis
        {
          throw failure(
            at: position - 1, "a \"/\" before a parenthesis: a group brings its own, \"/a(/b)\"")
        }
        // A trailing slash is ignored, so `/` has no segments.
        if position < bytes.count { try append(to: &parts, isRooted: true) }
      case Self.openParenthesis:
        let start = position
        guard depth < Self.maxDepth else {
          throw failure(at: start, "groups deeper than \(Self.maxDepth)")
        }
        position += 1
        guard position < bytes.count, bytes[position] == .slash else {
          throw failure(
            at: start,
            "an optional group begins with \"/\", as \"(/part/:x)\"; a literal parenthesis is written "
              + "\"%28\""
          )
        }
        let inner = try readPath(depth: depth + 1)
        guard position < bytes.count else {
          throw failure(
            at: start, "the group is not closed; a literal parenthesis is written \"%28\"")
        }
        position += 1
        parts.append(.group(inner, offset: start))
      case Self.closeParenthesis where depth > 0: return parts
      case Self.closeParenthesis:
        throw failure(at: position, "no group is open here; a literal \")\" is written \"%29\"")
      default: throw failure(at: position, "after a group comes \"/\", another group or the end")
      }
    }
    return parts
  }

  private mutating func append(
    to parts: inout [PatternPart], isRooted: Bool
  ) throws(RoutePatternError) {
    count += 1
    guard count <= RouteURI.maxSegments else {
      throw failure(at: position, "more than \(RouteURI.maxSegments) segments")
    }
    let start = position
    let (segment, name) = try readSegment(isAuthority: false)
    parts.append(.segment(segment, name: name, isRooted: isRooted, offset: start))
  }

  private mutating func readSegment(
    isAuthority: Bool
  ) throws(RoutePatternError) -> (RoutePattern.PatternSegment, name: String?) {
    let end =
      bytes[position...].firstIndex {
        $0 == .slash || $0 == Self.openParenthesis || $0 == Self.closeParenthesis
      }
      ?? bytes.count
    defer { position = end }
    if position < end, bytes[position] == .colon {
      return (.parameter, try readParameter(position + 1..<end))
    }
    if bytes[position..<end].elementsEqual([Self.asterisk]) { return (.wildcard, nil) }
    let start = position
    var literal: [UInt8] = []
    while position < end {
      let byte = try readLiteralByte(to: end, isAuthority: isAuthority)
      literal.append(isAuthority ? byte.lowercased : byte)
    }
    if !isAuthority, literal == [.dot] || literal == [.dot, .dot] {
      throw failure(
        at: start, "\".\" and \"..\" are removed from a URI before it is matched; remove them")
    }
    return (.literal(literal), nil)
  }

  private func readParameter(_ range: Range<Int>) throws(RoutePatternError) -> String {
    let name = bytes[range]
    guard let first = name.first, first.isLetter || first == UInt8(ascii: "_"),
      name.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") })
    else {
      throw failure(
        at: range.lowerBound - 1,
        "a parameter is \":\" and a name of letters, digits and \"_\", not beginning with a digit, "
          + "and takes the"
          + " whole segment; a literal that begins with \":\" is written \"%3A\"")
    }
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func readLiteralByte(
    to end: Int, isAuthority: Bool
  ) throws(RoutePatternError) -> UInt8 {
    let byte = bytes[position]
    switch byte {
    case .percent:
      guard position + 2 < end, let high = bytes[position + 1].hexValue,
        let low = bytes[position + 2].hexValue
      else {
        throw failure(at: position, "\"%\" needs two hexadecimal digits; a plain \"%\" is \"%25\"")
      }
      guard high | low != 0 else { throw failure(at: position, "\"%00\" is not allowed") }
      position += 3
      return high << 4 | low
    case Self.asterisk:
      throw failure(
        at: position,
        "\"*\" is the wildcard and takes a whole segment; a literal one is written \"%2A\"")
    case .questionMark, .numberSign:
      throw failure(
        at: position, "a pattern has no query and no fragment; query parameters match by name")
    default:
      let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
      guard byte >= 128 || URIByteSet.path.contains(byte) || (isAuthority && isBracket) else {
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

extension RoutePattern {
  /// The scheme of a pattern in lower case; `nil` if it has none or is invalid.
  package static func scheme(of text: String) -> String? {
    (try? RoutePattern(text))?.scheme
  }
}

/// A URI split into segments with their hashes, computed once and looked up in any number of tries.
package struct SplitURI: ~Copyable {
  /// The position of a segment in the text, and the hash of its decoded bytes.
  struct URISegment {
    var start: Int32 = 0
    var end: Int32 = 0
    var hash: UInt32 = 0
  }

  /// The beginning of the text after the scheme; URIs of different shapes match no common pattern.
  enum Shape: Int32 {
    /// `scheme://authority…`: the authority is the first segment.
    case authority
    /// `scheme:/path`
    case rooted
    /// `scheme:path`, and a path without segments.
    case rootless
  }

  /// The maximum number of segments without an allocation.
  private static let inlineCount = 8

  /// The URI that was split.
  package let uri: RouteURI
  private(set) var shape = Shape.rootless
  /// The scheme, hashed in lower case like the authority; empty for a relative reference.
  let scheme: URISegment
  /// The number of segments of the path, plus one if there is an authority.
  package private(set) var count = 0
  /// Whether the authority is the first segment of the path for global patterns.
  private(set) var isAuthorityGlobal = false
  /// Whether global patterns are tried at all: not for a path that begins without a slash.
  private(set) var hasGlobalPath = false
  private var inlineSegments = [8 of URISegment](repeating: URISegment())
  private var overflowSegments: [URISegment] = []

  /// Throws ``RouteURIError/URIErrorReason/tooManySegments``.
  package init(_ uri: RouteURI) throws(RouteURIError) {
    self.uri = uri
    let parts = uri.parts
    let bytes = uri.text.utf8.span
    scheme = Self.foldedSegment(bytes, 0, max(parts.schemeEnd, 0)).segment
    if parts.hasAuthority {
      // User information and an empty port do not make it another place.
      let end = parts.port < 0 ? parts.hostEnd : parts.authorityEnd
      let (segment, hasDot) = Self.foldedSegment(bytes, parts.hostStart, end)
      isAuthorityGlobal =
        !hasDot && segment.end > segment.start && parts.hostEnd == end
        && bytes[Int(segment.start)] != UInt8(ascii: "[") && !Self.isHTTP(bytes, scheme)
      append(segment)
    }
    let isRooted = parts.pathEnd > parts.pathStart && bytes[Int(parts.pathStart)] == .slash
    let countBefore = count
    var position = isRooted ? parts.pathStart + 1 : parts.pathStart
    var end = parts.pathEnd
    // A trailing slash is ignored, so `/` has no segments.
    if end > parts.pathStart, bytes[Int(end) - 1] == .slash { end -= 1 }
    while position <= end, end > parts.pathStart {
      guard count < RouteURI.maxSegments else {
        throw RouteURIError(.tooManySegments, at: Int(position))
      }
      let segment = Self.exactSegment(bytes, position, end)
      append(segment)
      position = segment.end + 1
    }
    let isEmpty = count == countBefore
    shape = parts.hasAuthority ? .authority : isRooted && !isEmpty ? .rooted : .rootless
    hasGlobalPath = isRooted || isEmpty
  }

  subscript(_ position: Int) -> URISegment {
    position < Self.inlineCount
      ? inlineSegments[position] : overflowSegments[position - Self.inlineCount]
  }

  /// Whether a segment matches without case, as the authority does.
  @inline(__always)
  func isFolded(_ position: Int) -> Bool { position == 0 && shape == .authority }

  private mutating func append(_ segment: URISegment) {
    if count < Self.inlineCount {
      inlineSegments[count] = segment
    } else {
      overflowSegments.append(segment)
    }
    count += 1
  }
}

extension SplitURI {
  /// Returns the segment that begins at `start` and ends at a slash or `end`.
  private static func exactSegment(_ bytes: Span<UInt8>, _ start: Int32, _ end: Int32) -> URISegment
  {
    var hash = SegmentHash()
    var position = Int(start)
    while position < Int(end) {
      let byte = bytes[position]
      if byte == .slash { break }
      if byte == .percent {
        hash.add(bytes.percentDecodedByte(at: position))
        position += 3
      } else {
        hash.add(byte)
        position += 1
      }
    }
    return URISegment(start: start, end: Int32(position), hash: hash.value)
  }

  /// Returns the whole range as a segment, hashed in lower case.
  private static func foldedSegment(
    _ bytes: Span<UInt8>, _ start: Int32, _ end: Int32
  ) -> (segment: URISegment, hasDot: Bool) {
    var hash = SegmentHash()
    var hasDot = false
    var position = Int(start)
    while position < Int(end) {
      let isTriplet = bytes[position] == .percent
      let byte = isTriplet ? bytes.percentDecodedByte(at: position) : bytes[position]
      if byte == .dot { hasDot = true }
      hash.add(byte.lowercased)
      position += isTriplet ? 3 : 1
    }
    return (URISegment(start: start, end: end, hash: hash.value), hasDot)
  }

  private static func isHTTP(_ bytes: Span<UInt8>, _ scheme: URISegment) -> Bool {
    guard scheme.end == 4 || scheme.end == 5 else { return false }
    return bytes[0].lowercased == UInt8(ascii: "h") && bytes[1].lowercased == UInt8(ascii: "t")
      && bytes[2].lowercased == UInt8(ascii: "t") && bytes[3].lowercased == UInt8(ascii: "p")
      && (scheme.end == 4 || bytes[4].lowercased == UInt8(ascii: "s"))
  }
}

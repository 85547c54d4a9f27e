/// A URI cut into segments with their hashes, made once and looked up in any number of tries.
package struct SplitURI: ~Copyable {
  /// Where a segment stands in the text, and the hash of its decoded bytes.
  struct Segment {
    var start: Int32 = 0
    var end: Int32 = 0
    var hash: UInt32 = 0
  }

  /// How what follows the scheme begins; URIs of different shape match no pattern in common.
  enum Shape: Int32 {
    /// `scheme://authority…`: the authority is the first segment.
    case authority
    /// `scheme:/path`
    case rooted
    /// `scheme:path`, and a path without segments.
    case rootless
  }

  /// The most segments without an allocation.
  private static let inlineCount = 8

  /// The URI that was cut.
  package let uri: RouteURI
  private(set) var shape = Shape.rootless
  /// Empty for a relative reference. Hashed in lower case, as is the authority.
  let scheme: Segment
  /// The authority, where there is one, and the segments of the path.
  package private(set) var count = 0
  /// Whether global patterns see the authority as the first segment of the path.
  private(set) var isAuthorityGlobal = false
  /// Whether global patterns are tried at all: not on a path that begins without slash.
  private(set) var hasGlobalPath = false
  private var first = [8 of Segment](repeating: Segment())
  private var rest: [Segment] = []

  /// Throws ``RouteURIError/Reason/tooManySegments``.
  package init(_ uri: RouteURI) throws(RouteURIError) {
    self.uri = uri
    let parts = uri.parts
    let bytes = uri.text.utf8.span
    scheme = Self.folded(bytes, 0, max(parts.schemeEnd, 0)).segment
    if parts.hasAuthority {
      let (segment, hasDot) = Self.folded(bytes, parts.authorityStart, parts.authorityEnd)
      isAuthorityGlobal =
        !hasDot && segment.end > segment.start && parts.hostStart == parts.authorityStart
        && parts.hostEnd == parts.authorityEnd && bytes[Int(segment.start)] != UInt8(ascii: "[")
        && !Self.isHTTP(bytes, scheme)
      append(segment)
    }
    let isRooted = parts.pathEnd > parts.pathStart && bytes[Int(parts.pathStart)] == .slash
    let hadSegments = count
    var position = isRooted ? parts.pathStart + 1 : parts.pathStart
    var end = parts.pathEnd
    // One slash at the end does not count, so `/` has no segments.
    if end > parts.pathStart, bytes[Int(end) - 1] == .slash { end -= 1 }
    while position <= end, end > parts.pathStart {
      guard count < RouteURI.maxSegments else {
        throw RouteURIError(.tooManySegments, at: Int(position))
      }
      let segment = Self.exact(bytes, position, end)
      append(segment)
      position = segment.end + 1
    }
    let isEmpty = count == hadSegments
    shape = parts.hasAuthority ? .authority : isRooted && !isEmpty ? .rooted : .rootless
    hasGlobalPath = isRooted || isEmpty
  }

  subscript(_ position: Int) -> Segment {
    position < Self.inlineCount ? first[position] : rest[position - Self.inlineCount]
  }

  /// Whether a segment matches without case: the authority does.
  @inline(__always)
  func isFolded(_ position: Int) -> Bool { position == 0 && shape == .authority }

  private mutating func append(_ segment: Segment) {
    if count < Self.inlineCount { first[count] = segment } else { rest.append(segment) }
    count += 1
  }
}

extension SplitURI {
  /// The segment that begins at `start` and ends at a slash or `end`.
  private static func exact(_ bytes: Span<UInt8>, _ start: Int32, _ end: Int32) -> Segment {
    var hash = SegmentHash()
    var position = Int(start)
    while position < Int(end) {
      let byte = bytes[position]
      if byte == .slash { break }
      if byte == .percent {
        hash.add(bytes.triplet(at: position))
        position += 3
      } else {
        hash.add(byte)
        position += 1
      }
    }
    return Segment(start: start, end: Int32(position), hash: hash.value)
  }

  /// The whole range, hashed in lower case.
  private static func folded(
    _ bytes: Span<UInt8>, _ start: Int32, _ end: Int32
  ) -> (segment: Segment, hasDot: Bool) {
    var hash = SegmentHash()
    var hasDot = false
    var position = Int(start)
    while position < Int(end) {
      let isTriplet = bytes[position] == .percent
      let byte = isTriplet ? bytes.triplet(at: position) : bytes[position]
      if byte == .dot { hasDot = true }
      hash.add(byte.lowercased)
      position += isTriplet ? 3 : 1
    }
    return (Segment(start: start, end: end, hash: hash.value), hasDot)
  }

  private static func isHTTP(_ bytes: Span<UInt8>, _ scheme: Segment) -> Bool {
    guard scheme.end == 4 || scheme.end == 5 else { return false }
    return bytes[0].lowercased == UInt8(ascii: "h") && bytes[1].lowercased == UInt8(ascii: "t")
      && bytes[2].lowercased == UInt8(ascii: "t") && bytes[3].lowercased == UInt8(ascii: "p")
      && (scheme.end == 4 || bytes[4].lowercased == UInt8(ascii: "s"))
  }
}

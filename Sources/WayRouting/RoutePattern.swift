/// What URIs a route answers: literals and `:name` parameters, one to a segment.
///
/// `native://address/:id` names its scheme and authority; `/user/:id` is global, for any scheme
/// (``RouterSnapshot/resolve(_:params:)`` says when). Scheme and authority match without case, the path exactly,
/// both after percent-decoding.
public struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
  enum Segment: Sendable, Hashable {
    /// The decoded bytes; of an authority in lower case.
    case literal([UInt8])
    case parameter
  }

  /// A parameter and the segment it takes, the authority counted.
  struct Capture: Sendable, Hashable {
    let name: String
    let segment: Int
  }

  /// The pattern as it was written.
  public let text: String
  /// The scheme in lower case; nil for a global pattern.
  public let scheme: String?
  let shape: SplitURI.Shape
  let segments: [Segment]
  let captures: [Capture]

  /// Throws an error that names the place and the mend.
  public init(_ text: String) throws(RoutePatternError) {
    var reader = RoutePatternReader(text)
    try reader.read()
    self.text = text
    scheme = reader.scheme
    shape = reader.shape
    segments = reader.segments
    captures = reader.captures
  }

  /// The names of the parameters, from left to right.
  public var parameterNames: [String] { captures.map(\.name) }

  public var description: String { text }

  public static func == (left: RoutePattern, right: RoutePattern) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

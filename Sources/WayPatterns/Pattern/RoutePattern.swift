import WayValues

/// What URIs a route answers: literals, `:name` parameters, optional groups `(/part/:x)` and a
/// final wildcard `*`.
///
/// `native://address/:id` names its scheme and authority; `/user/:id` is global, for any scheme
/// (``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)`` says when). Scheme and authority
/// match without case, the path exactly, both after percent-decoding. A parameter takes one segment
/// that is not empty, the wildcard all that remain, of which there may be none, as the list `*`. A
/// group is there as a whole or not at all.
public struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
  enum Segment: Sendable, Hashable {
    /// The decoded bytes; of an authority in lower case.
    case literal([UInt8])
    case parameter
    /// The last one of its form.
    case wildcard
  }

  /// A parameter and the segment it takes, the authority counted.
  struct Capture: Sendable, Hashable {
    let name: String
    let segment: Int
  }

  /// One way to read the pattern: with these of its groups and without those.
  struct Form: Sendable, Hashable {
    let shape: SplitURI.Shape
    let segments: [Segment]
    let captures: [Capture]

    /// The segment that is the first of the wildcard's.
    var wildcard: Int? { segments.last == .wildcard ? segments.count - 1 : nil }

    /// How specific it is, segment by segment: a literal, a parameter, the end, the wildcard.
    var rank: [UInt8] {
      let end: UInt8 = 2
      return segments.map { Self.rank($0) } + [end]
    }

    /// Whether its ``rank`` comes before that of another one; nil where they are the same.
    func isMoreSpecific(than other: Form) -> Bool? {
      for (mine, other) in zip(segments, other.segments) {
        let (mine, other) = (Self.rank(mine), Self.rank(other))
        if mine != other { return mine < other }
      }
      if segments.count == other.segments.count { return nil }
      // The end comes before a wildcard alone.
      return segments.count < other.segments.count
        ? other.segments[segments.count] == .wildcard : segments[other.segments.count] != .wildcard
    }

    private static func rank(_ segment: Segment) -> UInt8 {
      switch segment {
      case .literal: 0
      case .parameter: 1
      case .wildcard: 3
      }
    }
  }

  /// The name under which a wildcard's segments are among the parameters.
  public static let wildcardName = "*"
  /// In how many ways a pattern with optional groups may be read: five groups side by side.
  public static let maxForms = 32

  /// The pattern as it was written.
  public let text: String
  /// The scheme in lower case; nil for a global pattern.
  public let scheme: String?
  /// The one with all groups first; never empty.
  let forms: [Form]

  /// Throws an error that names the place and the mend.
  public init(_ text: String) throws(RoutePatternError) {
    var reader = RoutePatternParser(text)
    let parts = try reader.read()
    self.text = text
    scheme = reader.scheme
    forms = try PatternGroupExpander(parts, of: text).forms
  }

  /// The names of the parameters, from left to right; of a wildcard `*`.
  public var parameterNames: [String] {
    guard let longest = forms.first else { return [] }
    return longest.captures.map(\.name) + (longest.wildcard == nil ? [] : [Self.wildcardName])
  }

  /// How many ways there are to read it, 1 without groups.
  package var formCount: Int { forms.count }

  /// How much it adds to a table: one for each way to read it and eight segments begun.
  package var weight: Int { forms.reduce(0) { $0 + max(1, ($1.segments.count + 7) / 8) } }

  public var description: String { text }

  public static func == (left: RoutePattern, right: RoutePattern) -> Bool {
    left.text.isSameUTF8(as: right.text)
  }

  public func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }
}

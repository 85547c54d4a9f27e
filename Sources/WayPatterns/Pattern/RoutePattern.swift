import WayValues

/// A pattern of URIs: literals, `:name` parameters, optional groups `(/part/:x)` and a final
/// wildcard `*`.
///
/// `native://address/:id` names its scheme and authority. `/user/:id` is global, for any scheme
/// (see ``RouterSnapshot/resolve(_:params:checking:for:)-(RouteURI,_,_,_)``). Scheme and authority
/// match without case, the path exactly, both after percent-decoding. A parameter captures one
/// segment that is not empty. The wildcard captures all remaining segments, possibly none, as the
/// array `*`. A group is present as a whole or not at all.
public struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
  enum PatternSegment: Sendable, Hashable {
    /// The decoded bytes; those of an authority in lower case.
    case literal([UInt8])
    case parameter
    /// The wildcard, which is the last segment of its form.
    case wildcard
  }

  /// A parameter and the index of the segment that it captures, including the authority.
  struct Capture: Sendable, Hashable {
    let name: String
    let segment: Int
  }

  /// One form of the pattern: with some of its groups and without the others.
  struct PatternForm: Sendable, Hashable {
    let shape: SplitURI.Shape
    let segments: [PatternSegment]
    let captures: [Capture]

    /// The index of the first segment of the wildcard.
    var wildcardIndex: Int? { segments.last == .wildcard ? segments.count - 1 : nil }

    /// The specificity, segment by segment: a literal, a parameter, the end, the wildcard.
    var rank: [UInt8] {
      let end: UInt8 = 2
      return segments.map { Self.rank($0) } + [end]
    }

    /// Whether its ``rank`` precedes that of another form; `nil` if they are the same.
    func isMoreSpecific(than other: PatternForm) -> Bool? {
      for (mine, other) in zip(segments, other.segments) {
        let (mine, other) = (Self.rank(mine), Self.rank(other))
        if mine != other { return mine < other }
      }
      if segments.count == other.segments.count { return nil }
      // The end only precedes a wildcard.
      return segments.count < other.segments.count
        ? other.segments[segments.count] == .wildcard : segments[other.segments.count] != .wildcard
    }

    private static func rank(_ segment: PatternSegment) -> UInt8 {
      switch segment {
      case .literal: 0
      case .parameter: 1
      case .wildcard: 3
      }
    }
  }

  /// The name of a wildcard's segments in the parameters.
  public static let wildcardName = "*"
  /// The maximum number of forms of a pattern with optional groups: that of five independent
  /// groups.
  public static let maxForms = 32

  /// The pattern as it was written.
  public let text: String
  /// The scheme in lower case; nil for a global pattern.
  public let scheme: String?
  /// The forms; the first one has all groups. Never empty.
  let forms: [PatternForm]

  /// Parses a pattern. Throws an error that names the position and the remedy.
  public init(_ text: String) throws(RoutePatternError) {
    var parser = RoutePatternParser(text)
    let parts = try parser.parse()
    self.text = text
    scheme = parser.scheme
    forms = try PatternGroupExpander(parts, of: text).forms
  }

  /// The names of the parameters, from left to right; `*` for a wildcard.
  public var parameterNames: [String] {
    guard let longest = forms.first else { return [] }
    return longest.captures.map(\.name) + (longest.wildcardIndex == nil ? [] : [Self.wildcardName])
  }

  /// The names of the parameters of each form, from left to right.
  package var parameterNamesOfForms: [[String]] { forms.map(\.captureNames) }

  /// The number of forms, 1 without groups.
  package var formCount: Int { forms.count }

  /// The cost of the pattern in a table: for each form, one for every eight segments, and at least
  /// one.
  package var weight: Int { forms.reduce(0) { $0 + max(1, ($1.segments.count + 7) / 8) } }

  public var description: String { text }

  public static func == (left: RoutePattern, right: RoutePattern) -> Bool {
    left.text.isSameUTF8(as: right.text)
  }

  public func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }
}

extension RoutePattern {
  /// URIs that match, with values that no literal has. A pattern that matches them matches all URIs
  /// of this one. There are samples with and without its optional groups; a global pattern gets
  /// some scheme.
  package var sampleURIs: [RouteURI] {
    let scheme = self.scheme == nil ? "sample" : nil
    let all = ValueObject(parameterNames.map { ($0, $0 == "*" ? ["~", "~"] : "~") })
    return [all, [:]].compactMap { try? uri($0, scheme: scheme) }
  }
}

/// The reason why a text is no pattern, and the position.
public struct RoutePatternError: Error, Hashable, CustomStringConvertible {
  /// The whole pattern.
  public let pattern: String
  /// The position in the pattern, in bytes of UTF-8 from 0.
  public let offset: Int
  /// The fault and the remedy.
  public let reason: String

  package init(_ pattern: String, at offset: Int, _ reason: String) {
    self.pattern = pattern
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "pattern \"\(pattern)\", byte \(offset): \(reason)" }
}

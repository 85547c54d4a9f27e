/// The part of a pattern that decides which URIs it matches: everything except the names of
/// parameters. Two patterns with the same shape match the same URIs.
package struct PatternShape: Sendable, Hashable {
  private let scheme: String?
  private let shape: SplitURI.Shape
  private let segments: [RoutePattern.PatternSegment]
  private let priority: Int
  /// The hash of the whole shape, since a shape is looked up more often than it is created.
  private let hash: Int

  private init(_ pattern: RoutePattern, _ form: RoutePattern.PatternForm, priority: Int) {
    scheme = pattern.scheme
    shape = form.shape
    segments = form.segments
    self.priority = priority
    var hasher = Hasher()
    hasher.combine(scheme)
    hasher.combine(shape)
    hasher.combine(segments)
    hasher.combine(priority)
    hash = hasher.finalize()
  }

  /// Returns the shapes of a route's pattern with this priority: one for each of its forms.
  package static func all(of pattern: RoutePattern, priority: Int) -> [PatternShape] {
    pattern.forms.map { PatternShape(pattern, $0, priority: priority) }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

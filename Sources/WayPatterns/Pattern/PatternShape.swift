/// What two patterns have in common when they match the same URIs: everything but the names of
/// parameters.
package struct PatternShape: Sendable, Hashable {
  private let scheme: String?
  private let shape: SplitURI.Shape
  private let segments: [RoutePattern.Segment]
  private let priority: Int
  /// Of all of it: a shape is looked up more often than it is made.
  private let hash: Int

  private init(_ pattern: RoutePattern, _ form: RoutePattern.Form, priority: Int) {
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

  /// The shapes of a pattern of a route with that priority: one for each way to read its groups.
  package static func all(of pattern: RoutePattern, priority: Int) -> [PatternShape] {
    pattern.forms.map { PatternShape(pattern, $0, priority: priority) }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// What two patterns have in common when they match the same URIs: everything but the names of parameters.
package struct PatternShape: Sendable, Hashable {
  private let scheme: String?
  private let shape: SplitURI.Shape
  private let segments: [RoutePattern.Segment]
  private let priority: Int

  /// The shape of a pattern of a route with that priority.
  package init(_ pattern: RoutePattern, priority: Int) {
    scheme = pattern.scheme
    shape = pattern.shape
    segments = pattern.segments
    self.priority = priority
  }
}

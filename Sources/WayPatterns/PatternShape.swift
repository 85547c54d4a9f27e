/// What two patterns have in common when they match the same URIs: everything but the names of
/// parameters.
package struct PatternShape: Sendable, Hashable {
  private let scheme: String?
  private let shape: SplitURI.Shape
  private let segments: [RoutePattern.Segment]
  private let priority: Int

  /// The shapes of a pattern of a route with that priority: one for each way to read its groups.
  package static func all(of pattern: RoutePattern, priority: Int) -> [PatternShape] {
    pattern.forms.map { form in
      PatternShape(
        scheme: pattern.scheme, shape: form.shape, segments: form.segments, priority: priority)
    }
  }
}

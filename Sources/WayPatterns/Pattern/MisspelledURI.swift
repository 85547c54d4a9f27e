import WayValues

/// A URI that matches no pattern, prepared to find the pattern that it misspells.
package struct MisspelledURI {
  /// The maximum number of letters that may be wrong.
  package static let maxDistance = 2
  /// A longer URI is not compared with patterns, so that a peer cannot make the comparison costly.
  private static let maxLength = 256

  private let scheme: String
  private let shape: SplitURI.Shape
  /// The decoded bytes of the segments; those of an authority in lower case.
  private let segments: [[UInt8]]

  /// Returns `nil` if the URI has no scheme or is too long.
  package init?(_ uri: RouteURI) {
    guard uri.text.utf8.count <= Self.maxLength, let scheme = uri.scheme,
      let split = try? SplitURI(uri)
    else { return nil }
    self.scheme = scheme.lowercased()
    shape = split.shape
    var segments: [[UInt8]] = []
    for position in 0..<split.count {
      let bytes = split.decoded(position)
      segments.append(split.isFolded(position) ? bytes.map(\.lowercased) : bytes)
    }
    self.segments = segments
  }

  /// Returns the number of letters in which the URI differs from the first form of a pattern with
  /// the same scheme and the same number of segments. Returns `nil` if they differ more than that,
  /// in more than `limit` letters, or in more than a third of a segment.
  package func distance(to pattern: RoutePattern, atMost limit: Int) -> Int? {
    guard let form = pattern.forms.first, form.segments.count == segments.count,
      form.shape == shape, pattern.scheme == scheme
    else { return nil }
    var distance = 0
    for (segment, found) in zip(form.segments, segments) {
      switch segment {
      case .literal(let literal):
        let room = min(limit - distance, max(literal.count, found.count) / 3)
        guard let edits = literal[...].editDistance(to: found[...], atMost: room) else {
          return nil
        }
        distance += edits
      case .parameter: if found.isEmpty { return nil }
      case .wildcard: return nil
      }
    }
    return distance
  }
}

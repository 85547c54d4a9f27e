import WayPatterns
import WayValues

/// Redirects in the order in which they were added, no two of which match the same URIs.
struct RedirectList: Sendable {
  private(set) var redirects: [Redirect] = []
  /// Of each way to read a `from`, the text of that `from`.
  private var byShape: [PatternShape: String] = [:]

  /// Adds a redirect, or puts it in the place of the one with the same `from`.
  mutating func add(_ redirect: Redirect) throws(RouterError) {
    let shapes = PatternShape.all(of: redirect.from, priority: 0)
    for shape in shapes {
      if let other = byShape[shape], !other.isSameUTF8(as: redirect.from.text) {
        throw .redirectClash(from: redirect.from.text, other: other)
      }
    }
    for shape in shapes {
      guard byShape.updateValue(redirect.from.text, forKey: shape) != nil else { continue }
      redirects.removeAll { $0.from == redirect.from }
    }
    redirects.append(redirect)
  }

  /// False when there is none.
  mutating func remove(from pattern: RoutePattern) -> Bool {
    guard redirects.contains(where: { $0.from == pattern }) else { return false }
    redirects.removeAll { $0.from == pattern }
    for shape in PatternShape.all(of: pattern, priority: 0) { byShape[shape] = nil }
    return true
  }
}

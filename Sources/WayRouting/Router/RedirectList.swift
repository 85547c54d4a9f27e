import WayPatterns
import WayValues

/// Redirects in the order in which they were added, no two of which match the same URIs.
struct RedirectList: Sendable {
  private struct RedirectEntry: Sendable {
    let redirect: Redirect
    /// Whether a table declares it.
    let isDeclared: Bool
  }

  private var entries: [RedirectEntry] = []
  /// The text of the `from` for each expansion of that `from`.
  private var byShape: [PatternShape: String] = [:]

  var redirects: [Redirect] { entries.map(\.redirect) }

  /// Adds a redirect, or replaces the one with the same `from`.
  mutating func add(_ redirect: Redirect) throws(RouterConfigurationError) {
    try add(redirect, isDeclared: false)
  }

  /// Adds the redirects of a table. If `replacing` is `true`, they replace all redirects that
  /// tables have declared. Redirects of other code from the same pattern stay.
  mutating func declare(_ redirects: [Redirect], replacing: Bool) throws(RouterConfigurationError) {
    if replacing { remove { $0.isDeclared } }
    let others = Set(entries.lazy.filter { !$0.isDeclared }.map(\.redirect.from))
    for redirect in redirects where !others.contains(redirect.from) {
      try add(redirect, isDeclared: true)
    }
  }

  /// Removes a redirect; returns `false` if there is none.
  mutating func remove(from pattern: RoutePattern) -> Bool {
    let count = entries.count
    remove { $0.redirect.from == pattern }
    return entries.count < count
  }

  private mutating func add(_ redirect: Redirect, isDeclared: Bool) throws(RouterConfigurationError)
  {
    let shapes = PatternShape.all(of: redirect.from, priority: 0)
    for shape in shapes {
      if let other = byShape[shape], !other.isSameUTF8(as: redirect.from.text) {
        throw .redirectConflict(from: redirect.from.text, other: other)
      }
    }
    for shape in shapes {
      guard byShape.updateValue(redirect.from.text, forKey: shape) != nil else { continue }
      entries.removeAll { $0.redirect.from == redirect.from }
    }
    entries.append(RedirectEntry(redirect: redirect, isDeclared: isDeclared))
  }

  private mutating func remove(where isRemoved: (RedirectEntry) -> Bool) {
    for entry in entries where isRemoved(entry) {
      for shape in PatternShape.all(of: entry.redirect.from, priority: 0) { byShape[shape] = nil }
    }
    entries.removeAll(where: isRemoved)
  }
}

import WayPatterns
import WayValues

/// Redirects in the order in which they were added, no two of which match the same URIs.
struct RedirectList: Sendable {
  private struct Entry: Sendable {
    let redirect: Redirect
    /// Whether a table declares it.
    let isDeclared: Bool
  }

  private var entries: [Entry] = []
  /// Of each way to read a `from`, the text of that `from`.
  private var byShape: [PatternShape: String] = [:]

  var redirects: [Redirect] { entries.map(\.redirect) }

  /// Adds a redirect, or puts it in the place of the one with the same `from`.
  mutating func add(_ redirect: Redirect) throws(RouterError) {
    try add(redirect, isDeclared: false)
  }

  /// Adds the redirects of a table. `anew` puts them in the place of all that tables have declared.
  /// What other code redirects from the same pattern stays.
  mutating func declare(_ redirects: [Redirect], anew: Bool) throws(RouterError) {
    if anew { remove { $0.isDeclared } }
    let others = Set(entries.lazy.filter { !$0.isDeclared }.map(\.redirect.from))
    for redirect in redirects where !others.contains(redirect.from) {
      try add(redirect, isDeclared: true)
    }
  }

  /// False when there is none.
  mutating func remove(from pattern: RoutePattern) -> Bool {
    let count = entries.count
    remove { $0.redirect.from == pattern }
    return entries.count < count
  }

  private mutating func add(_ redirect: Redirect, isDeclared: Bool) throws(RouterError) {
    let shapes = PatternShape.all(of: redirect.from, priority: 0)
    for shape in shapes {
      if let other = byShape[shape], !other.isSameUTF8(as: redirect.from.text) {
        throw .redirectClash(from: redirect.from.text, other: other)
      }
    }
    for shape in shapes {
      guard byShape.updateValue(redirect.from.text, forKey: shape) != nil else { continue }
      entries.removeAll { $0.redirect.from == redirect.from }
    }
    entries.append(Entry(redirect: redirect, isDeclared: isDeclared))
  }

  private mutating func remove(where isRemoved: (Entry) -> Bool) {
    for entry in entries where isRemoved(entry) {
      for shape in PatternShape.all(of: entry.redirect.from, priority: 0) { byShape[shape] = nil }
    }
    entries.removeAll(where: isRemoved)
  }
}

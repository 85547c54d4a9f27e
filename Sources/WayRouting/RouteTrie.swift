/// An immutable table of patterns with something on each. A lookup costs by the segments of the URI.
///
/// Order of matches: patterns that name the scheme before global ones; then priority, higher first; then
/// specificity, segment by segment, a literal before a parameter before the wildcard; then the order of the entries.
package struct RouteTrie<Payload: Sendable>: Sendable {
  /// A pattern with what hangs on it.
  package struct Entry: Sendable {
    let pattern: RoutePattern
    let payload: Payload
    let priority: Int

    /// Among matches the highest priority comes first.
    package init(_ pattern: RoutePattern, _ payload: Payload, priority: Int = 0) {
      self.pattern = pattern
      self.payload = payload
      self.priority = priority
    }
  }

  /// A pattern that matches.
  package struct Match: Sendable {
    /// The pattern that matched.
    package let pattern: RoutePattern
    /// What its entry holds.
    package let payload: Payload
    let form: RoutePattern.Form
    /// The segment of the URI that is the pattern's first.
    let start: Int
  }

  // One for each form of each pattern; apart, so that reading one does not count references of the other.
  let patterns: [RoutePattern]
  let forms: [RoutePattern.Form]
  let payloads: [Payload]
  let index: TrieIndex

  /// Builds the table. Of entries with one shape and one priority the first wins; give them last to first
  /// to have the last win.
  package init(_ entries: [Entry]) {
    let all = entries.flatMap { entry in entry.pattern.forms.map { (entry, $0) } }
    patterns = all.map(\.0.pattern)
    forms = all.map(\.1)
    payloads = all.map(\.0.payload)
    index = TrieBuilder.index(all.map { ($0.0.pattern.scheme, $0.1, $0.0.priority) })
  }

  /// The best match.
  package func first(_ split: borrowing SplitURI) -> Match? {
    (index.first(split, in: .scheme) ?? index.first(split, in: .global)).map(match)
  }

  /// All matches, the best first: for when ``first(_:)`` was declined.
  package func matches(_ split: borrowing SplitURI) -> [Match] {
    (index.all(split, in: .scheme) + index.all(split, in: .global)).map(match)
  }

  private func match(_ found: TrieIndex.Found) -> Match {
    Match(
      pattern: patterns[found.entry], payload: payloads[found.entry], form: forms[found.entry],
      start: found.start)
  }
}

/// Suggests a known name for an unknown one.
package enum NameSuggestion {
  /// Longer names are not compared, nor more names than this.
  private static let maxLength = 64
  private static let maxNames = 1024

  /// The known name that is most similar to an unknown one; `nil` if none is close.
  package static func closest(_ name: String, among known: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased().utf8)
    guard (2...maxLength).contains(wanted.count) else { return nil }
    // Up to a third of a name may be wrong, at most two letters.
    var least = min(2, wanted.count / 3 + (wanted.count > 2 ? 0 : 1)) + 1
    var best: String?
    for candidate in known.prefix(maxNames) where candidate.utf8.count <= maxLength {
      let found = Array(candidate.lowercased().utf8)
      guard let distance = wanted[...].editDistance(to: found[...], atMost: least - 1) else {
        continue
      }
      least = distance
      best = candidate
    }
    return best
  }

  /// A sentence with the suggestion, after a space; empty if no name is close.
  package static func hint(for name: String, among known: some Sequence<String>) -> String {
    closest(name, among: known).map { " did you mean \"\($0)\"?" } ?? ""
  }
}

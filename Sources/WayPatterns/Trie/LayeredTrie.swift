import WayValues

/// A table of patterns that is changed at little cost: the base patterns, and the changes since it
/// was built. A lookup returns the same as a ``RouteTrie`` of all current patterns.
///
/// Copies share their common parts. The cost of a change is linear in the number of changed
/// patterns; if the table is shared, in the number of all changes since it was built. A lookup also
/// walks the patterns that were added since.
///
/// An entry consists of patterns with one priority. Its place is its position in the order of all
/// entries. Its number is from 0 on for base entries, and from -1 down for those that were added
/// since. Forms are numbered in the same way.
package struct LayeredTrie: Sendable {
  /// Patterns with their constant place.
  package typealias PlacedPatterns = (place: Int, patterns: [RoutePattern], priority: Int)

  /// The base patterns. A class, so that it is passed on as one reference.
  private final class BaseTrie: Sendable {
    let trie: RouteTrie
    /// The places of the entries, in rising order.
    let places: [Int]

    init(_ trie: RouteTrie, _ places: [Int]) {
      self.trie = trie
      self.places = places
    }
  }

  private struct TrieChanges: Sendable {
    /// The numbers of the removed base entries, one bit each.
    var removedBits: [UInt64]
    var removedCount = 0
    var added = RouteTrie([])
    /// The entries by their numbers in `added`; some may have been removed.
    var entries: [(place: Int, priority: Int)] = []

    init(of count: Int) { removedBits = Array(repeating: 0, count: (count + 63) / 64) }

    func isRemoved(_ number: Int) -> Bool {
      removedCount > 0 && removedBits[number / 64] & 1 << UInt64(number % 64) != 0
    }
  }

  /// Immutable, so that a lookup reads it without counting references.
  private final class SharedTrieChanges: Sendable {
    let value: TrieChanges

    init(_ all: TrieChanges) { self.value = all }

    func best(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope) -> RouteTrie.Candidate? {
      value.added.best(split, in: scope)?.complement
    }

    func captures(
      of candidate: RouteTrie.Candidate, in split: borrowing SplitURI
    ) throws(PatternParameterError) -> ValueObject {
      try value.added.captures(of: candidate.complement, in: split)
    }

    func entry(of form: Int) -> Int { ~value.added.entry(of: ~form) }

    func isRemoved(_ number: Int) -> Bool { value.isRemoved(number) }
  }

  private let base: BaseTrie
  /// The changes; `nil` if there are none.
  private var changes: SharedTrieChanges?

  /// Creates a table of entries in the order of their places.
  package init(_ entries: [PlacedPatterns]) {
    var owners: [Int] = []
    var patterns: [RouteTrie.PrioritizedPattern] = []
    for (number, entry) in entries.enumerated() {
      for pattern in entry.patterns {
        owners.append(number)
        patterns.append((pattern, entry.priority))
      }
    }
    base = BaseTrie(RouteTrie(patterns, owners: owners), entries.map(\.place))
  }

  /// The number of changes since the table was built: forms that were added, and entries that were
  /// removed.
  package var changeCount: Int {
    changes.map { $0.value.added.formCount + $0.value.removedCount } ?? 0
  }

  /// Returns the number of the base entry at a place; `nil` if it was removed.
  package func baseNumber(at place: Int) -> Int? {
    let places = base.places
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low] == place && !isRemoved(low) ? low : nil
  }

  /// Returns the place of an entry.
  package func place(of number: Int) -> Int {
    guard number < 0, let changes else { return base.places[number] }
    return changes.value.entries[~number].place
  }

  /// Adds an entry with the number one below the lowest.
  package mutating func insert(_ patterns: [RoutePattern], priority: Int, at place: Int) {
    change { changes in
      changes.entries.append((place, priority))
      for pattern in patterns {
        changes.added.insert(pattern, of: changes.entries.count - 1, changes.entries)
      }
    }
  }

  /// Removes an existing entry with these patterns.
  package mutating func remove(_ number: Int, _ patterns: [RoutePattern]) {
    change { changes in
      guard number >= 0 else {
        for pattern in patterns { changes.added.remove(pattern, of: ~number, changes.entries) }
        return
      }
      changes.removedBits[number / 64] |= 1 << UInt64(number % 64)
      changes.removedCount += 1
    }
  }

  /// The index of the base forms.
  var index: TrieIndex { base.trie.index }

  /// The index of the added forms; `nil` without changes.
  var addedIndex: TrieIndex? { changes?.value.added.index }

  private mutating func change(_ change: (inout TrieChanges) -> Void) {
    var all = changes?.value ?? TrieChanges(of: base.places.count)
    // Changes that no copy shares are changed in place.
    changes = nil
    change(&all)
    changes = SharedTrieChanges(all)
  }

  func isRemoved(_ number: Int) -> Bool { changes?.value.isRemoved(number) ?? false }
}

// Lookups.
extension LayeredTrie {
  /// Returns the best candidate of a scope.
  package func best(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope) -> RouteTrie
    .Candidate?
  {
    guard let changes else { return base.trie.best(split, in: scope) }
    var best = base.trie.best(split, in: scope)
    if let found = best, changes.isRemoved(base.trie.entry(of: found.form)) {
      best = baseCandidates(split, in: scope).first
    }
    guard let other = changes.best(split, in: scope) else { return best }
    guard let best else { return other }
    return precedes(other, best, in: scope) ? other : best
  }

  /// Returns all candidates of a scope, best first.
  package func candidates(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope) -> [RouteTrie
    .Candidate]
  {
    let found = baseCandidates(split, in: scope)
    let others = changes?.value.added.candidates(split, in: scope) ?? []
    guard !others.isEmpty else { return found }
    return (found + others.map(\.complement)).sorted { precedes($0, $1, in: scope) }
  }

  /// Returns the base candidates that are not removed.
  private func baseCandidates(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope)
    -> [RouteTrie.Candidate]
  {
    var found = base.trie.candidates(split, in: scope)
    if let changes, changes.value.removedCount > 0 {
      found.removeAll { changes.isRemoved(base.trie.entry(of: $0.form)) }
    }
    return found
  }

  /// Whether one of two matches of a URI precedes the other.
  private func precedes(
    _ one: RouteTrie.Candidate, _ other: RouteTrie.Candidate, in scope: RouteTrie.MatchScope
  ) -> Bool {
    if one.priority != other.priority { return one.priority > other.priority }
    return precedes(one.form, other.form, in: scope)
  }

  private func precedes(_ one: Int, _ other: Int, in scope: RouteTrie.MatchScope) -> Bool {
    let (first, second) = (form(one), form(other))
    if let isMoreSpecific = first.isMoreSpecific(than: second) { return isMoreSpecific }
    // `native:*` precedes `native:/*` for a URI without segments.
    if scope == .scheme, first.shape != second.shape { return first.shape == .rootless }
    return isEarlier(one, other)
  }

  /// Whether a form precedes another one in the order of the entries.
  func isEarlier(_ one: Int, _ other: Int) -> Bool {
    let (place, otherPlace) = (self.place(of: entry(of: one)), self.place(of: entry(of: other)))
    // The forms of one entry have numbers of the same sign.
    return place != otherPlace ? place < otherPlace : abs(one) < abs(other)
  }
}

extension RouteTrie.Candidate {
  /// The candidate with the number of an added form, and vice versa.
  fileprivate var complement: Self { Self(form: ~form, start: start, priority: priority) }
}

// The meaning of the numbers of forms.
extension LayeredTrie {
  /// Returns the number of the entry that a form belongs to.
  package func entry(of form: Int) -> Int {
    guard form < 0, let changes else { return base.trie.entry(of: form) }
    return changes.entry(of: form)
  }

  /// Returns the pattern that a form belongs to.
  package func pattern(of form: Int) -> RoutePattern {
    guard form < 0, let changes else { return base.trie.pattern(of: form) }
    return changes.value.added.pattern(of: ~form)
  }

  func form(_ number: Int) -> RoutePattern.PatternForm {
    guard number < 0, let changes else { return base.trie.form(number) }
    return changes.value.added.form(~number)
  }

  /// Returns the values that the pattern captures from the URI, as ``RouteTrie/captures(of:in:)``
  /// does.
  package func captures(
    of candidate: RouteTrie.Candidate, in split: borrowing SplitURI
  ) throws(PatternParameterError) -> ValueObject {
    guard candidate.form < 0, let changes else {
      return try base.trie.captures(of: candidate, in: split)
    }
    return try changes.captures(of: candidate, in: split)
  }
}

import WayValues

/// A table of patterns that is changed at little cost: the patterns that it was made with, and what
/// has changed since. A lookup gives what a ``RouteTrie`` of all that is there would give.
///
/// Copies share what they have in common. A change costs by what has changed since the table was
/// made, as long as a copy is kept, else by the patterns that change; a lookup takes one more walk
/// through what was added since.
///
/// An entry, some patterns with one priority, has a place, which stands for its order among all,
/// and a number, from 0 on for those that the table was made with, and from -1 down for those that
/// were added since. So do the forms.
package struct LayeredTrie: Sendable {
  /// Patterns, with the place that they have for good.
  package typealias Entry = (place: Int, patterns: [RoutePattern], priority: Int)
  package typealias Candidate = RouteTrie.Candidate
  package typealias Scope = RouteTrie.Scope

  /// What the table was made with. A class, so that it is handed on as one reference.
  private final class Base: Sendable {
    let trie: RouteTrie
    /// Of the entries, rising.
    let places: [Int]

    init(_ trie: RouteTrie, _ places: [Int]) {
      self.trie = trie
      self.places = places
    }
  }

  private struct Changes: Sendable {
    /// The numbers of the base's entries that have been removed, a bit for each.
    var gone: [UInt64]
    var goneCount = 0
    var added = RouteTrie([])
    /// By their numbers in `added`; some may have been removed.
    var entries: [(place: Int, priority: Int)] = []

    init(of count: Int) { gone = Array(repeating: 0, count: (count + 63) / 64) }

    func isGone(_ number: Int) -> Bool {
      goneCount > 0 && gone[number / 64] & 1 << UInt64(number % 64) != 0
    }
  }

  /// Immutable, so that a lookup reads it without counting references.
  private final class Changed: Sendable {
    let all: Changes

    init(_ all: Changes) { self.all = all }

    func best(_ split: borrowing SplitURI, in scope: Scope) -> Candidate? {
      all.added.best(split, in: scope)?.added
    }

    func captures(
      of candidate: Candidate, in split: borrowing SplitURI
    ) throws(PatternParameterError) -> ValueObject {
      try all.added.captures(of: candidate.added, in: split)
    }

    func entry(of form: Int) -> Int { ~all.added.entry(of: ~form) }

    func isGone(_ number: Int) -> Bool { all.isGone(number) }
  }

  private let base: Base
  /// Nil where nothing has changed.
  private var changed: Changed?

  /// A table of entries whose places rise.
  package init(_ entries: [Entry]) {
    var owners: [Int] = []
    var patterns: [RouteTrie.Entry] = []
    for (number, entry) in entries.enumerated() {
      for pattern in entry.patterns {
        owners.append(number)
        patterns.append((pattern, entry.priority))
      }
    }
    base = Base(RouteTrie(patterns, owners: owners), entries.map(\.place))
  }

  /// How much has changed since the table was made: forms that were added, and entries that were
  /// removed.
  package var changeCount: Int { changed.map { $0.all.added.formCount + $0.all.goneCount } ?? 0 }

  /// The number of the entry that the table was made with at a place; nil where it was removed.
  package func baseNumber(at place: Int) -> Int? {
    let places = base.places
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low] == place && !isGone(low) ? low : nil
  }

  /// The place of an entry.
  package func place(of number: Int) -> Int {
    guard number < 0, let changed else { return base.places[number] }
    return changed.all.entries[~number].place
  }

  /// Adds an entry, which gets the next number down.
  package mutating func insert(_ patterns: [RoutePattern], priority: Int, at place: Int) {
    change { changes in
      changes.entries.append((place, priority))
      for pattern in patterns {
        changes.added.insert(pattern, of: changes.entries.count - 1, changes.entries)
      }
    }
  }

  /// Removes an entry that is there, with these patterns.
  package mutating func remove(_ number: Int, _ patterns: [RoutePattern]) {
    change { changes in
      guard number >= 0 else {
        for pattern in patterns { changes.added.remove(pattern, of: ~number, changes.entries) }
        return
      }
      changes.gone[number / 64] |= 1 << UInt64(number % 64)
      changes.goneCount += 1
    }
  }

  /// Where the forms lead that the table was made with.
  var index: TrieIndex { base.trie.index }

  /// Where those lead that were added; nil where nothing has changed.
  var addedIndex: TrieIndex? { changed?.all.added.index }

  private mutating func change(_ change: (inout Changes) -> Void) {
    var all = changed?.all ?? Changes(of: base.places.count)
    // What no copy has is changed in place.
    changed = nil
    change(&all)
    changed = Changed(all)
  }

  func isGone(_ number: Int) -> Bool { changed?.all.isGone(number) ?? false }
}

// Looking up.
extension LayeredTrie {
  /// The best candidate of a scope.
  package func best(_ split: borrowing SplitURI, in scope: Scope) -> Candidate? {
    guard let changed else { return base.trie.best(split, in: scope) }
    var best = base.trie.best(split, in: scope)
    if let found = best, changed.isGone(base.trie.entry(of: found.form)) {
      best = own(split, in: scope).first
    }
    guard let other = changed.best(split, in: scope) else { return best }
    guard let best else { return other }
    return precedes(other, best, in: scope) ? other : best
  }

  /// All candidates of a scope, the best first.
  package func candidates(_ split: borrowing SplitURI, in scope: Scope) -> [Candidate] {
    let found = own(split, in: scope)
    let others = changed?.all.added.candidates(split, in: scope) ?? []
    guard !others.isEmpty else { return found }
    return (found + others.map(\.added)).sorted { precedes($0, $1, in: scope) }
  }

  /// Those of the base that are still there.
  private func own(_ split: borrowing SplitURI, in scope: Scope) -> [Candidate] {
    var found = base.trie.candidates(split, in: scope)
    if let changed, changed.all.goneCount > 0 {
      found.removeAll { changed.isGone(base.trie.entry(of: $0.form)) }
    }
    return found
  }

  /// Whether one of two matches of a URI comes before the other.
  private func precedes(_ one: Candidate, _ other: Candidate, in scope: Scope) -> Bool {
    if one.priority != other.priority { return one.priority > other.priority }
    return precedes(one.form, other.form, in: scope)
  }

  private func precedes(_ one: Int, _ other: Int, in scope: Scope) -> Bool {
    let (first, second) = (form(one), form(other))
    if let isMoreSpecific = first.isMoreSpecific(than: second) { return isMoreSpecific }
    // `native:*` goes before `native:/*` where a URI has no segments.
    if scope == .scheme, first.shape != second.shape { return first.shape == .rootless }
    return isEarlier(one, other)
  }

  /// Whether a form comes before another one in the order of the entries.
  func isEarlier(_ one: Int, _ other: Int) -> Bool {
    let (place, otherPlace) = (self.place(of: entry(of: one)), self.place(of: entry(of: other)))
    // Forms of one entry have numbers of one sign.
    return place != otherPlace ? place < otherPlace : abs(one) < abs(other)
  }
}

extension RouteTrie.Candidate {
  /// The same of the patterns that were added, and back.
  fileprivate var added: Self { Self(form: ~form, start: start, priority: priority) }
}

// What the numbers of forms stand for.
extension LayeredTrie {
  /// The number of the entry that a form belongs to.
  package func entry(of form: Int) -> Int {
    guard form < 0, let changed else { return base.trie.entry(of: form) }
    return changed.entry(of: form)
  }

  /// The pattern that a form belongs to.
  package func pattern(of form: Int) -> RoutePattern {
    guard form < 0, let changed else { return base.trie.pattern(of: form) }
    return changed.all.added.pattern(of: ~form)
  }

  func form(_ number: Int) -> RoutePattern.Form {
    guard number < 0, let changed else { return base.trie.form(number) }
    return changed.all.added.form(~number)
  }

  /// What the pattern's parameters take from the URI, as ``RouteTrie/captures(of:in:)`` says.
  package func captures(
    of candidate: Candidate, in split: borrowing SplitURI
  ) throws(PatternParameterError) -> ValueObject {
    guard candidate.form < 0, let changed else {
      return try base.trie.captures(of: candidate, in: split)
    }
    return try changed.captures(of: candidate, in: split)
  }
}

import WayValues

/// An immutable table of patterns. The cost of a lookup is linear in the segments of the URI.
///
/// Order of candidates: patterns that name the scheme before global ones; then priority, higher
/// first; then specificity, segment by segment, a literal before a parameter before the wildcard;
/// then the types of the parameters; then the order of the entries.
package struct RouteTrie: Sendable {
  /// A pattern with its priority; among several that match, the highest priority comes first.
  package typealias PrioritizedPattern = (pattern: RoutePattern, priority: Int)

  /// A pattern that matches a URI, in one of its forms.
  package struct Candidate: Sendable {
    /// The number of the form among those of all entries in order.
    package let form: Int
    /// The index of the URI's segment that is the pattern's first.
    let start: Int
    /// The priority of its entry.
    package let priority: Int
  }

  /// The patterns that a lookup considers.
  package enum MatchScope {
    /// Patterns that name the scheme of the URI.
    case scheme
    /// Patterns without a scheme.
    case global
  }

  // One element for each form of each pattern. The arrays are separate, so that reading one counts
  // no references of another.
  private var patterns: [RoutePattern] = []
  private(set) var forms: [RoutePattern.PatternForm] = []
  private var owners: [Int32] = []
  private(set) var index = TrieIndex()

  /// Builds the table. Among entries with one shape and one priority the first wins; to let the
  /// last win, pass them in reverse order.
  package init(_ entries: [PrioritizedPattern]) {
    self.init(entries, owners: entries.indices)
  }

  /// - Parameters:
  ///   - owners: the number of each entry, instead of its place, in rising order.
  ///   - typeRanks: for each form of each entry, the ranks of the types of its parameters: among
  ///     forms of one shape, the lowest come first. Empty if they do not matter.
  package init(
    _ entries: [PrioritizedPattern], owners: some Collection<Int>, typeRanks: [[UInt8]] = []
  ) {
    let count = entries.reduce(0) { $0 + $1.pattern.formCount }
    patterns.reserveCapacity(count)
    forms.reserveCapacity(count)
    self.owners.reserveCapacity(count)
    var priorities: [Int] = []
    priorities.reserveCapacity(count)
    for (entry, owner) in zip(entries, owners) {
      for form in entry.pattern.forms {
        patterns.append(entry.pattern)
        forms.append(form)
        self.owners.append(Int32(owner))
        priorities.append(entry.priority)
      }
    }
    index = TrieIndex(count: count) { number in
      let number = Int(number)
      return TrieIndex.NumberedForm(
        form: forms[number], scheme: patterns[number].scheme, priority: priorities[number],
        typeRanks: typeRanks.isEmpty ? [] : typeRanks[number])
    }
  }

  /// Returns the best of all candidates.
  package func best(_ split: borrowing SplitURI) -> Candidate? {
    best(split, in: .scheme) ?? best(split, in: .global)
  }

  /// Returns the best candidate of a scope.
  package func best(_ split: borrowing SplitURI, in scope: MatchScope) -> Candidate? {
    index.bestMatch(split, in: scope).map(candidate)
  }

  /// Returns all candidates, best first, for a call that ``best(_:)`` declined.
  package func candidates(_ split: borrowing SplitURI) -> [Candidate] {
    candidates(split, in: .scheme) + candidates(split, in: .global)
  }

  /// Returns all candidates of a scope, best first.
  package func candidates(_ split: borrowing SplitURI, in scope: MatchScope) -> [Candidate] {
    index.allMatches(split, in: scope).map(candidate)
  }

  private func candidate(_ found: TrieIndex.FormMatch) -> Candidate {
    Candidate(form: found.form, start: found.start, priority: found.priority)
  }
}

// The meaning of the numbers of forms.
extension RouteTrie {
  /// Returns the place of a form's pattern among the entries that the table was built of.
  package func entry(of form: Int) -> Int { Int(owners[form]) }

  /// Returns the pattern that a form belongs to.
  package func pattern(of form: Int) -> RoutePattern { patterns[form] }

  /// Returns the specificity of a form. If two forms match one URI in one scope, even in different
  /// tables, the one with the lesser rank, compared in order, comes first.
  func rank(of form: Int) -> [UInt8] { forms[form].rank }

  /// Returns the decoded values that the pattern captures from the URI of the lookup.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for bytes that are no UTF-8 and for `%00`.
  package func captures(
    of candidate: Candidate, in split: borrowing SplitURI
  ) throws(PatternParameterError) -> ValueObject {
    try forms[candidate.form].values(in: split, from: candidate.start)
  }
}

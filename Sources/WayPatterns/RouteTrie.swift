import WayValues

/// An immutable table of patterns. A lookup costs by the segments of the URI.
///
/// Order of candidates: patterns that name the scheme before global ones; then priority, higher
/// first; then specificity, segment by segment, a literal before a parameter before the wildcard;
/// then the order of the entries.
package struct RouteTrie: Sendable {
  /// A pattern; of several that match, the one with the highest priority comes first.
  package typealias Entry = (pattern: RoutePattern, priority: Int)

  /// A pattern that matches a URI, in one of its forms.
  package struct Candidate: Sendable {
    /// The number of the form: those of all entries in their order.
    package let form: Int
    /// The segment of the URI that is the pattern's first.
    let start: Int
    /// That of its entry.
    package let priority: Int
  }

  /// Which patterns a lookup is about.
  package enum Scope {
    /// Those that name the scheme of the URI.
    case scheme
    /// Those without a scheme.
    case global
  }

  // One for each form of each pattern; apart, so that reading one counts no references of another.
  private let patterns: [RoutePattern]
  private let forms: [RoutePattern.Form]
  private let owners: [Int32]
  private let index: TrieIndex

  /// Builds the table. Of entries with one shape and one priority the first wins; give them last to
  /// first to have the last win.
  package init(_ entries: [Entry]) {
    let all = entries.enumerated().flatMap { number, entry in
      entry.pattern.forms.map { (owner: Int32(number), entry: entry, form: $0) }
    }
    patterns = all.map(\.entry.pattern)
    forms = all.map(\.form)
    owners = all.map(\.owner)
    index = TrieBuilder.index(all.map { ($0.entry.pattern.scheme, $0.form, $0.entry.priority) })
  }

  /// The best of all candidates.
  package func best(_ split: borrowing SplitURI) -> Candidate? {
    best(split, in: .scheme) ?? best(split, in: .global)
  }

  /// The best candidate of a scope.
  package func best(_ split: borrowing SplitURI, in scope: Scope) -> Candidate? {
    index.first(split, in: scope).map(candidate)
  }

  /// All candidates, the best first: for when ``best(_:)`` was declined.
  package func candidates(_ split: borrowing SplitURI) -> [Candidate] {
    candidates(split, in: .scheme) + candidates(split, in: .global)
  }

  /// All candidates of a scope, the best first.
  package func candidates(_ split: borrowing SplitURI, in scope: Scope) -> [Candidate] {
    index.all(split, in: scope).map(candidate)
  }

  private func candidate(_ found: TrieIndex.Found) -> Candidate {
    Candidate(form: found.entry, start: found.start, priority: found.priority)
  }
}

// What the numbers of forms stand for.
extension RouteTrie {
  /// The place of a form's pattern among the entries that the table was built of.
  package func entry(of form: Int) -> Int { Int(owners[form]) }

  /// The pattern that a form belongs to.
  package func pattern(of form: Int) -> RoutePattern { patterns[form] }

  /// How specific a form is: of two that match one URI in one scope, also of different tables, the
  /// one with the lesser rank, compared in order, comes first.
  func rank(of form: Int) -> [UInt8] { forms[form].rank }

  /// What the pattern's parameters take from the URI, decoded; the one that was looked up.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for bytes that are no UTF-8 and for `%00`.
  package func captures(
    of candidate: Candidate, in split: borrowing SplitURI
  ) throws(ParameterError) -> ValueObject {
    try forms[candidate.form].values(in: split, from: candidate.start)
  }
}

// For those who ask why a URI leads where it does.
extension RouteTrie {
  /// The first place at which two forms differ in specificity, in words for people; nil for none.
  package func firstDifference(
    of form: Int, from other: Int
  ) -> (mine: String, other: String)? {
    forms[form].firstDifference(from: forms[other])
  }

  /// Why a form does not match a URI.
  package func mismatch(
    of form: Int, with split: borrowing SplitURI, in scope: Scope
  ) -> String {
    forms[form].mismatch(with: split, isGlobal: scope == .global)
  }

  /// At most `limit` forms that share a beginning with the URI, the longest beginning first, and
  /// not those that have nothing but the scheme in common with it unless `fromRoot`. Those that
  /// match may be among them.
  package func near(
    _ split: borrowing SplitURI, in scope: Scope, limit: Int, fromRoot: Bool = false
  ) -> [Int] {
    index.near(split, in: scope, limit: limit, fromRoot: fromRoot)
  }

  /// At most `limit` forms that would match if the URI had another scheme, or began in another way
  /// after it.
  package func elsewhere(_ split: borrowing SplitURI, limit: Int) -> [Int] {
    index.elsewhere(split, limit: limit)
  }
}

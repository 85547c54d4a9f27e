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
  private var patterns: [RoutePattern] = []
  private var forms: [RoutePattern.Form] = []
  private var owners: [Int32] = []
  private(set) var index = TrieIndex()

  /// Builds the table. Of entries with one shape and one priority the first wins; give them last to
  /// first to have the last win.
  package init(_ entries: [Entry]) {
    self.init(entries, owners: entries.indices)
  }

  /// - Parameter owners: by which number each entry is called instead of its place; these rise.
  init(_ entries: [Entry], owners: some Collection<Int>) {
    let count = entries.reduce(0) { $0 + $1.pattern.formCount }
    patterns.reserveCapacity(count)
    forms.reserveCapacity(count)
    self.owners.reserveCapacity(count)
    var priorities: [Int] = []
    priorities.reserveCapacity(count)
    for (entry, owner) in zip(entries, owners) {
      add(entry.pattern, of: owner)
      for _ in entry.pattern.forms { priorities.append(entry.priority) }
    }
    index = TrieIndex(count: count) { number in
      let number = Int(number)
      return TrieIndex.NumberedForm(
        form: forms[number], scheme: patterns[number].scheme, priority: priorities[number],
        place: number)
    }
  }

  /// Adds a pattern of the last owner, or of the next one. Costs by the pattern.
  ///
  /// - Parameter entries: what the numbers of the owners stand for. Of forms of one shape and one
  ///   priority that with the lower place comes first.
  mutating func insert(
    _ pattern: RoutePattern, of owner: Int, _ entries: [(place: Int, priority: Int)]
  ) {
    let first = formCount
    add(pattern, of: owner)
    let numbered = numbered(entries)
    for number in first..<formCount { index.insert(Int32(number), numbered) }
  }

  /// Takes the pattern of an owner out. Its forms keep their numbers.
  mutating func remove(
    _ pattern: RoutePattern, of owner: Int, _ entries: [(place: Int, priority: Int)]
  ) {
    index.remove(pattern, at: entries[owner].place, numbered(entries))
  }

  private func numbered(
    _ entries: [(place: Int, priority: Int)]
  ) -> (Int32) -> TrieIndex.NumberedForm {
    { [patterns, forms, owners] number in
      let number = Int(number)
      let (place, priority) = entries[Int(owners[number])]
      return TrieIndex.NumberedForm(
        form: forms[number], scheme: patterns[number].scheme, priority: priority, place: place)
    }
  }

  private mutating func add(_ pattern: RoutePattern, of owner: Int) {
    for form in pattern.forms {
      patterns.append(pattern)
      forms.append(form)
      owners.append(Int32(owner))
    }
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
    Candidate(form: found.form, start: found.start, priority: found.priority)
  }
}

// What the numbers of forms stand for.
extension RouteTrie {
  /// The place of a form's pattern among the entries that the table was built of.
  package func entry(of form: Int) -> Int { Int(owners[form]) }

  /// How many forms there are, those that were taken out counted.
  var formCount: Int { forms.count }

  /// The form with a number.
  func form(_ number: Int) -> RoutePattern.Form { forms[number] }

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
  ) throws(PatternParameterError) -> ValueObject {
    try forms[candidate.form].values(in: split, from: candidate.start)
  }
}

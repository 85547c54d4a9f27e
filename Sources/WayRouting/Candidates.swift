import WayValues

/// The routes that a lookup meets, and those that it nearly does, each with what became of it.
struct Candidates: ~Copyable {
  /// The one that is taken.
  private(set) var chosen: TrieIndex.Found?
  private(set) var told: [Explanation.Candidate] = []
  private let trie: RouteTrie<Route>
  private let scheme: SchemeTable.Traits
  private let schemeName: String
  private var seen: Set<Int> = []
  private var misses = 0

  init(of snapshot: RouterSnapshot, _ split: borrowing SplitURI) {
    trie = snapshot.trie
    scheme = snapshot.schemes.traits(of: split)
    schemeName = split.uri.scheme?.lowercased() ?? ""
    guard !schemeName.isEmpty else { return }
    add(trie.index.all(split, in: .scheme), split, isGlobal: false)
    add(trie.index.all(split, in: .global), split, isGlobal: true)
    addMisses(split)
  }

  private mutating func add(
    _ matches: [TrieIndex.Found], _ split: borrowing SplitURI, isGlobal: Bool
  ) {
    for match in matches {
      let isChosen = chosen == nil && refusal(of: match, isGlobal: isGlobal) == nil
      if isChosen { chosen = match }
      guard told.count < Explanation.maxCandidates, seen.insert(match.entry).inserted else {
        continue
      }
      tell(
        match.entry, isChosen: isChosen,
        refusal(of: match, isGlobal: isGlobal)
          ?? (isChosen ? "the best match" : loss(of: match, isGlobal: isGlobal)),
        try? trie.forms[match.entry].values(in: split, from: match.start))
    }
  }

  /// Why a match cannot be taken at all.
  private func refusal(of match: TrieIndex.Found, isGlobal: Bool) -> String? {
    if scheme.isRemoved { return "the dispatcher of the scheme '\(schemeName)' was removed" }
    if scheme.isNavigation { return "the scheme '\(schemeName)' has no routes" }
    if isGlobal, scheme.isClosed {
      return "the scheme '\(schemeName)' is closed to patterns without a scheme"
    }
    let kind = trie.payloads[match.entry].kind
    guard !scheme.takes(kind) else { return nil }
    return "a \(kind.rawValue), which the scheme '\(schemeName)' does not take"
  }

  /// Why a match comes behind the chosen one.
  private func loss(of match: TrieIndex.Found, isGlobal: Bool) -> String {
    guard let chosen else { return "" }
    if isGlobal, trie.patterns[chosen.entry].scheme != nil {
      return "patterns that name the scheme go first"
    }
    if match.priority != chosen.priority {
      return "its priority \(match.priority) is lower than \(chosen.priority)"
    }
    return trie.forms[match.entry].firstDifference(from: trie.forms[chosen.entry])
      .map { "less specific: \($0.mine) where the best match has \($0.other)" }
      ?? "registered later"
  }

  private mutating func addMisses(_ split: borrowing SplitURI) {
    addNear(split, fromRoot: false)
    let limit = Explanation.maxMisses
    for entry in trie.index.elsewhere(split, limit: limit) {
      let pattern = trie.patterns[entry]
      let reason =
        pattern.scheme == schemeName
        ? "'\(schemeName):' goes on in another way: compare the slashes"
        : "its scheme is '\(pattern.scheme ?? "")', not '\(schemeName)'"
      addMiss(entry, reason)
    }
    if told.isEmpty { addNear(split, fromRoot: true) }
  }

  private mutating func addNear(_ split: borrowing SplitURI, fromRoot: Bool) {
    for scope in [TrieIndex.Scope.scheme, .global] {
      let limit = Explanation.maxMisses + seen.count
      for entry in trie.index.near(split, in: scope, limit: limit, fromRoot: fromRoot) {
        let form = trie.forms[entry]
        let isGlobal = scope == .global
        addMiss(entry, form.mismatch(with: split, isGlobal: isGlobal))
      }
    }
  }

  private mutating func addMiss(_ entry: Int, _ reason: @autoclosure () -> String) {
    guard misses < Explanation.maxMisses, told.count < Explanation.maxCandidates,
      seen.insert(entry).inserted
    else { return }
    // Another form of a pattern that is told already says nothing new.
    let (route, pattern) = (trie.payloads[entry].name, trie.patterns[entry].text)
    guard !told.contains(where: { $0.route == route && $0.pattern == pattern }) else { return }
    misses += 1
    tell(entry, isChosen: false, reason(), nil)
  }

  private mutating func tell(
    _ entry: Int, isChosen: Bool, _ reason: String, _ params: ValueObject?
  ) {
    told.append(
      .init(
        route: trie.payloads[entry].name, pattern: trie.patterns[entry].text, isChosen: isChosen,
        reason: reason, params: params))
  }
}

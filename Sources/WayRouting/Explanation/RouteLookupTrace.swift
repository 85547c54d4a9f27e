import WayPatterns
import WayValues

/// The routes that a lookup meets, and those that it nearly does, each with what became of it.
struct RouteLookupTrace: ~Copyable {
  /// The one that is taken.
  private(set) var chosen: RouteTrie.Candidate?
  private(set) var told: [Explanation.Candidate] = []
  /// Why routes with a release are there for who asks, or are not.
  private(set) var releases: [String] = []
  private let snapshot: RouterSnapshot
  private let caller: Caller?
  private let scheme: SchemeTable.Traits
  private let schemeName: String
  private var seen: Set<Int> = []
  private var misses = 0

  init(of snapshot: RouterSnapshot, _ split: borrowing SplitURI, for caller: Caller?) {
    self.snapshot = snapshot
    self.caller = caller
    scheme = snapshot.schemes.traits(of: split)
    schemeName = split.uri.scheme?.lowercased() ?? ""
    guard !schemeName.isEmpty else { return }
    add(trie.candidates(split, in: .scheme), split, isGlobal: false)
    add(trie.candidates(split, in: .global), split, isGlobal: true)
    addMisses(split)
  }

  private var trie: LayeredTrie { snapshot.trie }

  private func route(of form: Int) -> Route { snapshot.placed.route(of: form) }

  private mutating func add(
    _ matches: [RouteTrie.Candidate], _ split: borrowing SplitURI, isGlobal: Bool
  ) {
    for match in matches {
      let isChosen = chosen == nil && refusal(of: match, isGlobal: isGlobal) == nil
      if isChosen { chosen = match }
      guard told.count < Explanation.maxCandidates, seen.insert(match.form).inserted else {
        continue
      }
      let route = route(of: match.form)
      if let release = route.release {
        releases.append("route '\(route.name)': \(release.reason(caller, salt: route.name))")
      }
      tell(
        match.form, isChosen: isChosen,
        refusal(of: match, isGlobal: isGlobal)
          ?? (isChosen ? "the best match" : loss(of: match, isGlobal: isGlobal)),
        try? trie.captures(of: match, in: split))
    }
  }

  /// Why a match cannot be taken at all.
  private func refusal(of match: RouteTrie.Candidate, isGlobal: Bool) -> String? {
    if scheme.isRemoved { return "the dispatcher of the scheme '\(schemeName)' was removed" }
    if scheme.isNavigation { return "the scheme '\(schemeName)' has no routes" }
    if isGlobal, scheme.isClosed {
      return "the scheme '\(schemeName)' is closed to patterns without a scheme"
    }
    let route = snapshot.route(of: match)
    if !scheme.takes(route.kind) {
      return "a \(route.kind.rawValue), which the scheme '\(schemeName)' does not take"
    }
    guard let release = route.release, !release.admits(caller, salt: route.name) else { return nil }
    return "not released here: \(release.reason(caller, salt: route.name))"
  }

  /// Why a match comes behind the chosen one.
  private func loss(of match: RouteTrie.Candidate, isGlobal: Bool) -> String {
    guard let chosen else { return "" }
    if isGlobal, trie.pattern(of: chosen.form).scheme != nil {
      return "patterns that name the scheme go first"
    }
    if match.priority != chosen.priority {
      return "its priority \(match.priority) is lower than \(chosen.priority)"
    }
    return trie.firstDifference(of: match.form, from: chosen.form)
      .map { "less specific: \($0.mine) where the best match has \($0.other)" }
      ?? "registered later"
  }

  private mutating func addMisses(_ split: borrowing SplitURI) {
    addNear(split, fromRoot: false)
    let limit = Explanation.maxMisses
    for form in trie.elsewhere(split, limit: limit) {
      let pattern = trie.pattern(of: form)
      let reason =
        pattern.scheme == schemeName
        ? "'\(schemeName):' goes on in another way: compare the slashes"
        : "its scheme is '\(pattern.scheme ?? "")', not '\(schemeName)'"
      addMiss(form, reason)
    }
    if told.isEmpty { addNear(split, fromRoot: true) }
  }

  private mutating func addNear(_ split: borrowing SplitURI, fromRoot: Bool) {
    let trie = trie
    for scope in [RouteTrie.Scope.scheme, .global] {
      let limit = Explanation.maxMisses + seen.count
      for form in trie.near(split, in: scope, limit: limit, fromRoot: fromRoot) {
        addMiss(form, trie.mismatch(of: form, with: split, in: scope))
      }
    }
  }

  private mutating func addMiss(_ form: Int, _ reason: @autoclosure () -> String) {
    guard misses < Explanation.maxMisses, told.count < Explanation.maxCandidates,
      seen.insert(form).inserted
    else { return }
    // Another form of a pattern that is told already says nothing new.
    let (route, pattern) = (route(of: form).name, trie.pattern(of: form).text)
    guard !told.contains(where: { $0.route == route && $0.pattern == pattern }) else { return }
    misses += 1
    tell(form, isChosen: false, reason(), nil)
  }

  private mutating func tell(
    _ form: Int, isChosen: Bool, _ reason: String, _ params: ValueObject?
  ) {
    told.append(
      .init(
        route: route(of: form).name, pattern: trie.pattern(of: form).text, isChosen: isChosen,
        reason: reason, params: params))
  }
}

import WayPatterns
import WayValues

/// The routes that match a lookup or nearly match it, each with the reason why it was chosen or
/// not.
struct RouteLookupTrace: ~Copyable {
  /// The candidate that was chosen; the best of those that only types exclude if there is no other.
  private(set) var chosen: RouteTrie.Candidate?
  private(set) var candidates: [RouteExplanation.ExplainedCandidate] = []
  /// The reasons why routes with a rollout include the caller or not.
  private(set) var rollouts: [String] = []
  private let snapshot: RouterSnapshot
  private let caller: Caller?
  private let scheme: RouterSchemeTable.SchemeTraits
  private let schemeName: String
  private var seen: Set<Int> = []
  private var nearMissCount = 0
  /// The first candidate that only the types of its parameters exclude.
  private var misfit: RouteTrie.Candidate?

  init(of snapshot: RouterSnapshot, _ split: borrowing SplitURI, for caller: Caller?) {
    self.snapshot = snapshot
    self.caller = caller
    scheme = snapshot.schemes.traits(of: split)
    schemeName = split.uri.scheme?.lowercased() ?? ""
    guard !schemeName.isEmpty else { return }
    add(trie.candidates(split, in: .scheme), split, isGlobal: false)
    add(trie.candidates(split, in: .global), split, isGlobal: true)
    if chosen == nil { chosen = misfit }
    addNearMisses(split)
  }

  private var trie: RouteTrie { snapshot.routingTable.trie }

  private func route(of form: Int) -> Route { snapshot.routingTable.route(of: form) }

  private mutating func add(
    _ matches: [RouteTrie.Candidate], _ split: borrowing SplitURI, isGlobal: Bool
  ) {
    for match in matches {
      var rejection = rejectionReason(of: match, isGlobal: isGlobal)
      if rejection == nil, let (name, fault) = snapshot.typeFault(of: match, split) {
        misfit = misfit ?? match
        rejection = "its parameter '\(name.brief)' \(fault)"
      }
      let isChosen = chosen == nil && rejection == nil
      if isChosen { chosen = match }
      guard candidates.count < RouteExplanation.maxCandidates, seen.insert(match.form).inserted
      else {
        continue
      }
      let route = route(of: match.form)
      if let rollout = route.rollout {
        rollouts.append("route '\(route.name)': \(rollout.reason(caller, salt: route.name))")
      }
      record(
        match.form, isChosen: isChosen,
        rejection
          ?? (isChosen ? "the best match" : rankingReason(of: match, isGlobal: isGlobal)),
        try? trie.captures(of: match, in: split))
    }
  }

  /// Returns the reason why a match cannot be chosen at all.
  private func rejectionReason(of match: RouteTrie.Candidate, isGlobal: Bool) -> String? {
    if scheme.isRemoved { return "the dispatcher of the scheme '\(schemeName)' was removed" }
    if scheme.isNavigation { return "the scheme '\(schemeName)' has no routes" }
    if isGlobal, scheme.isClosed {
      return "the scheme '\(schemeName)' is closed to patterns without a scheme"
    }
    let route = snapshot.route(of: match)
    if !scheme.accepts(route.kind) {
      return "a \(route.kind.rawValue), which the scheme '\(schemeName)' does not accept"
    }
    guard let rollout = route.rollout, !rollout.includes(caller, salt: route.name) else {
      return nil
    }
    return "not released here: \(rollout.reason(caller, salt: route.name))"
  }

  /// Returns the reason why a match ranks below the chosen one.
  private func rankingReason(of match: RouteTrie.Candidate, isGlobal: Bool) -> String {
    guard let chosen else { return "" }
    if isGlobal, trie.pattern(of: chosen.form).scheme != nil {
      return "patterns that name the scheme go first"
    }
    if match.priority != chosen.priority {
      return "its priority \(match.priority) is lower than \(chosen.priority)"
    }
    return trie.firstDifference(of: match.form, from: chosen.form)
      .map { "less specific: \($0.mine) where the best match has \($0.other)" }
      ?? (route(of: chosen.form).matchesByType
        ? "its parameters have wider types, or it was registered later" : "registered later")
  }

  private mutating func addNearMisses(_ split: borrowing SplitURI) {
    addSimilar(split, fromRoot: false)
    let limit = RouteExplanation.maxNearMisses
    for form in trie.matchesInOtherSchemes(split, limit: limit) {
      let pattern = trie.pattern(of: form)
      let reason =
        pattern.scheme == schemeName
        ? "other slashes follow '\(schemeName):' in the pattern"
        : "its scheme is '\(pattern.scheme ?? "")', not '\(schemeName)'"
      addNearMiss(form, reason)
    }
    if candidates.isEmpty { addSimilar(split, fromRoot: true) }
  }

  private mutating func addSimilar(_ split: borrowing SplitURI, fromRoot: Bool) {
    let trie = trie
    for scope in [RouteTrie.MatchScope.scheme, .global] {
      let limit = RouteExplanation.maxNearMisses + seen.count
      for form in trie.nearMisses(split, in: scope, limit: limit, fromRoot: fromRoot) {
        addNearMiss(form, trie.mismatchReason(of: form, with: split, in: scope))
      }
    }
  }

  private mutating func addNearMiss(_ form: Int, _ reason: @autoclosure () -> String) {
    guard nearMissCount < RouteExplanation.maxNearMisses,
      candidates.count < RouteExplanation.maxCandidates,
      seen.insert(form).inserted
    else { return }
    // Another form of a pattern that is listed already adds no information.
    let (route, pattern) = (route(of: form).name, trie.pattern(of: form).text)
    guard !candidates.contains(where: { $0.route == route && $0.pattern == pattern }) else {
      return
    }
    nearMissCount += 1
    record(form, isChosen: false, reason(), nil)
  }

  private mutating func record(
    _ form: Int, isChosen: Bool, _ reason: String, _ params: ValueObject?
  ) {
    candidates.append(
      .init(
        route: route(of: form).name, pattern: trie.pattern(of: form).text, isChosen: isChosen,
        reason: reason, params: params))
  }
}

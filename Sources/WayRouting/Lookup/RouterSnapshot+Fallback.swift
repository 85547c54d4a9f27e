import WayPatterns
import WayValues

// Where a call goes on when what its URI leads to does not serve it.
extension RouterSnapshot {
  /// The further matches of a URI, the best first: for a call whose handlers so far declined.
  /// `params` are the caller's.
  package func matches(
    after declined: RouteMatch, params: ValueObject, for caller: Caller?
  ) throws(ResolutionError) -> [RouteMatch] {
    let split: SplitURI
    do { split = try SplitURI(declined.uri) } catch { throw .invalidURI(error) }
    let scheme = schemes.traits(of: split)
    var found = trie.candidates(split, in: .scheme)
    if !scheme.isClosed { found += trie.candidates(split, in: .global) }
    var asker = RolloutCheck(caller: caller, isPersonal: true)
    let rest = found.filter { scheme.takes(route(of: $0).kind) && asker.mayTake(route(of: $0)) }
      .drop { route(of: $0) !== declined.route }.dropFirst()
    var matches: [RouteMatch] = []
    for next in rest {
      // What this match cannot read, the next one may.
      guard let match = try? self.found(next, split, scheme, asker).match(params, checking: true)
      else {
        continue
      }
      matches.append(match)
    }
    return matches
  }

  /// The fallback of a route, for one call; nil where it has none.
  package func fallback(of match: RouteMatch) throws(ResolutionError) -> RouteURI? {
    guard let target = match.route.fallback else { return nil }
    do {
      return try target.uri(
        match.pathParams,
        carrying: try match.uri.queryParameters(plusIsSpace: plusIsSpace),
        fragment: match.uri.fragment)
    } catch {
      throw ResolutionError(error)
    }
  }

  /// Where a call of a URI that nothing serves goes on by the rules of its scheme; nil for nowhere.
  package func undefinedTarget(of uri: RouteURI) throws(ResolutionError) -> RouteURI? {
    do {
      return try undefined(uri)?.uri([:], carrying: ["uri": .string(uri.text)], fragment: nil)
    } catch {
      throw ResolutionError(error)
    }
  }

  /// Whether ``undefinedTarget(of:)`` has one, or an error.
  package func hasUndefinedTarget(_ uri: RouteURI) -> Bool { undefined(uri) != nil }

  private func undefined(_ uri: RouteURI) -> PatternTarget? {
    guard let split = try? SplitURI(uri),
      let target = schemes.undefined(schemes.traits(of: split))
    else { return nil }
    // Nobody serves the target itself: then it leads no further.
    if let own = try? target.uri([:], carrying: [:], fragment: nil),
      own.withoutQuery == uri.withoutQuery
    {
      return nil
    }
    return target
  }
}

import WayPatterns
import WayValues

// The next targets of a call if the target of its URI does not serve it.
extension RouterSnapshot {
  /// Returns the further matches of a URI, best first, for a call that the handlers so far
  /// declined. `params` are the caller's.
  package func matches(
    after declined: RouteMatch, params: ValueObject, for caller: Caller?
  ) throws(RouterResolutionError) -> [RouteMatch] {
    let split: SplitURI
    do { split = try SplitURI(declined.uri) } catch { throw .invalidURI(error) }
    let scheme = schemes.traits(of: split)
    var found = routingTable.trie.candidates(split, in: .scheme)
    if !scheme.isClosed { found += routingTable.trie.candidates(split, in: .global) }
    var rolloutCheck = RolloutCheck(caller: caller, dependsOnCaller: true)
    let rest = found.filter {
      scheme.accepts(route(of: $0).kind) && rolloutCheck.includes(route(of: $0))
    }
    .drop { route(of: $0) !== declined.route }.dropFirst()
    var matches: [RouteMatch] = []
    for next in rest {
      guard fitsTypes(next, split) else { continue }
      // The next match may be able to decode what this one cannot.
      guard
        let match = try? self.resolvedRoute(next, split, scheme, rolloutCheck).match(
          params, checking: true)
      else {
        continue
      }
      matches.append(match)
    }
    return matches
  }

  /// Returns the fallback of a route for one call; `nil` if it has none.
  package func fallback(of match: RouteMatch) throws(RouterResolutionError) -> RouteURI? {
    guard let target = match.route.fallback else { return nil }
    do {
      return try target.uri(
        match.pathParams,
        extraParameters: try match.uri.queryParameters(plusIsSpace: plusIsSpace),
        fragment: match.uri.fragment)
    } catch {
      throw RouterResolutionError(error)
    }
  }

  /// Returns the target of the scheme for a URI that no route or host serves; `nil` if there is
  /// none.
  package func undefinedTarget(of uri: RouteURI) throws(RouterResolutionError) -> RouteURI? {
    do {
      return try undefinedRouteTarget(uri)?.uri(
        [:], extraParameters: ["uri": .string(uri.text)], fragment: nil)
    } catch {
      throw RouterResolutionError(error)
    }
  }

  /// Whether ``undefinedTarget(of:)`` returns a target or throws.
  package func hasUndefinedTarget(_ uri: RouteURI) -> Bool { undefinedRouteTarget(uri) != nil }

  /// Whether a client that hosts a whole scheme gets the calls that are meant for the scheme's
  /// undefined target or for the undefined-route handler, because the scheme is not closed.
  ///
  /// - Parameter isRouted: whether patterns of routes name the scheme. The handler counts only
  ///   then, and not for `http` and `https`: without routes, all calls are meant for the host.
  package func leavesUndefinedRoutes(toHostOf scheme: String, isRouted: Bool) -> Bool {
    let traits = schemes.traits(ofScheme: scheme)
    guard !traits.isClosed, !traits.isRemoved else { return false }
    if schemes.undefinedTarget(traits) != nil { return true }
    return undefinedRouteHandler != nil && isRouted && scheme != "http" && scheme != "https"
  }

  private func undefinedRouteTarget(_ uri: RouteURI) -> PatternTarget? {
    guard let split = try? SplitURI(uri),
      let target = schemes.undefinedTarget(schemes.traits(of: split))
    else { return nil }
    // Nothing serves the target itself, so it has no further target.
    if let targetURI = try? target.uri([:], extraParameters: [:], fragment: nil),
      targetURI.withoutQuery == uri.withoutQuery
    {
      return nil
    }
    return target
  }
}

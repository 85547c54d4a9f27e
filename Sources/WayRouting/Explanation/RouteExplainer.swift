import WayPatterns
import WayValues

extension RouterSnapshot {
  /// Explains how the router resolves a URI. It runs and changes nothing; a text that is no URI is
  /// explained too. `caller` matters if a ``RouteRollout`` applies.
  public func explain(
    _ text: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> RouteExplanation {
    var explanation = RouteExplanation(uri: text)
    do throws(RouterResolutionError) {
      let uri: RouteURI
      do { uri = try RouteURI(mapping: text).withoutDotSegments } catch { throw .invalidURI(error) }
      if uri.hasScheme { explanation.uri = uri.text }
      let redirected = try follow(uri, for: caller, explaining: true)
      explanation.redirects = Array((redirected?.chain ?? []).dropFirst())
      let split: SplitURI
      do { split = try SplitURI(redirected?.uri ?? uri) } catch { throw .invalidURI(error) }
      let candidates = RouteLookupTrace(of: self, split, for: caller)
      explanation.candidates = candidates.candidates
      explanation.rollouts = (redirected?.reasons ?? []) + candidates.rollouts
      explanation.route = candidates.chosen.map(route)
      explanation.pattern = candidates.chosen.map { routingTable.trie.pattern(of: $0.form) }
      explanation.kind = explanation.route?.kind
      let unchecked = try resolve(split, params: params, checking: false, for: caller)
      explanation.apply(unchecked, given: params)
      let chain = interceptors(of: unchecked)
      explanation.interceptors = chain?.names ?? []
      explanation.gates = chain?.gates.map(\.name) ?? []
      // Resolve again with checks, so that an invalid parameter is reported together with the
      // candidates.
      let resolution = try resolve(split, params: params, for: caller)
      explanation.apply(resolution, given: params)
      explanation.resolution = resolution
      explanation.fallback = try fallback(of: resolution)
      if !explanation.canOpen {
        try followUndefinedTargets(&explanation, from: resolution, given: params, for: caller)
      }
    } catch {
      if case .redirectLoop(let chain) = error { explanation.redirects = Array(chain.dropFirst()) }
      explanation.canOpen = false
      explanation.reason = "\(error)"
    }
    return explanation
  }
}

extension RouterSnapshot {
  /// Follows a URI that no route matches to the target of its scheme or of the app.
  private func followUndefinedTargets(
    _ explanation: inout RouteExplanation, from resolution: Resolution, given: ValueObject,
    for caller: Caller?
  ) throws(RouterResolutionError) {
    var trail: [String] = []
    var resolution = resolution
    while case .unmatched(let place, _) = resolution,
      let next = try undefinedTarget(of: place.uri)
    {
      trail.append(place.uri.text)
      guard trail.count <= Redirect.maxRedirects else {
        throw .redirectLoop(chain: trail + [next.text])
      }
      resolution = try resolve(next, params: given, for: caller)
    }
    var end = explanation
    end.apply(resolution, given: given)
    if end.canOpen {
      explanation.canOpen = true
      explanation.kind = resolution.route?.kind ?? end.kind
    } else if undefinedRouteHandler != nil, case .unmatched = resolution {
      explanation.canOpen = true
      explanation.kind = .task
      explanation.reason += "; the undefined-route handler decides"
    }
  }

  private func fallback(of resolution: Resolution) throws(RouterResolutionError) -> String? {
    switch resolution {
    case .match(let match): try fallback(of: match)?.text
    case .unmatched(let place, _): try undefinedTarget(of: place.uri)?.text
    case .navigation: nil
    }
  }
}

extension RouteExplanation {
  fileprivate mutating func apply(_ resolution: Resolution, given: ValueObject) {
    var path = ValueObject()
    var uri: ValueObject?
    switch resolution {
    case .match(let match):
      canOpen = true
      params = match.params
      path = match.pathParams
      uri = match.resolvedRoute.params
      reason = "by the pattern '\(pattern?.text.brief ?? "")'"
    case .navigation(_, let operation, let merged):
      canOpen = ["back", "selectTab"].contains(operation)
      kind = canOpen ? .task : nil
      params = merged
      reason =
        canOpen
        ? "an operation of the stack"
        : "'\(operation.brief)' is no operation of the stack; 'back' and 'selectTab' are"
    case .unmatched(let place, let merged):
      params = merged
      if case .custom? = place.dispatcher?.action {
        canOpen = true
        kind = .task
        reason = "no declared route matches; the scheme's dispatcher answers"
      } else {
        reason = "no declared route matches"
      }
    }
    sources = params.members.map { member in
      // A null that only meant "absent" has been replaced.
      if let value = given[member.name], !value.isNull || member.value.isNull { return .params }
      if path[member.name] != nil { return .path }
      return uri.map { $0[member.name] == nil } == true ? .default : .query
    }
  }
}

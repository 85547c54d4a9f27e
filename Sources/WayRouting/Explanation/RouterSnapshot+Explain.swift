import WayPatterns
import WayValues

extension RouterSnapshot {
  /// How the router reads a URI. Runs nothing and changes nothing; a text that is no URI is
  /// explained too. `caller` counts where a ``Release`` says so.
  public func explain(
    _ text: String, params: ValueObject = [:], for caller: Caller? = nil
  ) -> Explanation {
    var explanation = Explanation(uri: text)
    do throws(ResolutionError) {
      let uri: RouteURI
      do { uri = try RouteURI(mapping: text).withoutDotSegments } catch { throw .invalidURI(error) }
      let way = try redirects?.follow(uri, in: self, for: caller, explaining: true)
      explanation.redirects = Array((way?.chain ?? []).dropFirst())
      let split: SplitURI
      do { split = try SplitURI(way?.uri ?? uri) } catch { throw .invalidURI(error) }
      let candidates = RouteLookupTrace(of: self, split, for: caller)
      explanation.candidates = candidates.told
      explanation.releases = (way?.reasons ?? []) + candidates.releases
      explanation.route = candidates.chosen.map(route)
      explanation.pattern = candidates.chosen.map { trie.pattern(of: $0.form) }
      explanation.kind = explanation.route?.kind
      let unchecked = try resolve(split, params: params, checking: false, for: caller)
      explanation.take(unchecked, given: params)
      explanation.interceptors = interceptors(of: unchecked)?.names ?? []
      // Once more, so that a parameter that does not fit is told beside what there is.
      let resolution = try resolve(split, params: params, for: caller)
      explanation.take(resolution, given: params)
      explanation.resolution = resolution
      explanation.fallback = try fallback(of: resolution)
      if !explanation.canOpen {
        try leadOn(&explanation, from: resolution, given: params, for: caller)
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
  /// Follows a URI that no route matches to where its scheme, or the app, leads it.
  private func leadOn(
    _ explanation: inout Explanation, from resolution: Resolution, given: ValueObject,
    for caller: Caller?
  ) throws(ResolutionError) {
    var trail: [String] = []
    var resolution = resolution
    while case .undeclared(let place, _) = resolution,
      let next = try undefinedTarget(of: place.uri)
    {
      trail.append(place.uri.text)
      guard trail.count <= Redirect.maxHops else { throw .redirectLoop(chain: trail + [next.text]) }
      resolution = try resolve(next, params: given, for: caller)
    }
    var end = explanation
    end.take(resolution, given: given)
    if end.canOpen {
      explanation.canOpen = true
      explanation.kind = resolution.route?.kind ?? end.kind
    } else if undefinedRoute != nil, case .undeclared = resolution {
      explanation.canOpen = true
      explanation.kind = .task
      explanation.reason += ", and the undefined-route handler would be asked"
    }
  }

  private func fallback(of resolution: Resolution) throws(ResolutionError) -> String? {
    switch resolution {
    case .match(let match): try fallback(of: match)?.text
    case .undeclared(let place, _): try undefinedTarget(of: place.uri)?.text
    case .navigation: nil
    }
  }
}

extension Explanation {
  fileprivate mutating func take(_ resolution: Resolution, given: ValueObject) {
    var path = ValueObject()
    var uri: ValueObject?
    switch resolution {
    case .match(let match):
      canOpen = true
      params = match.params
      path = match.pathParams
      uri = match.found.params
      reason = "by the pattern '\(pattern?.text.brief ?? "")'"
    case .navigation(_, let operation, let merged):
      canOpen = ["back", "selectTab"].contains(operation)
      kind = canOpen ? .task : nil
      params = merged
      reason =
        canOpen
        ? "an operation of the stack"
        : "'\(operation.brief)' is no operation of the stack; 'back' and 'selectTab' are"
    case .undeclared(let place, let merged):
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
      // A null that was no more than "absent" has been replaced.
      if let own = given[member.name], !own.isNull || member.value.isNull { return .params }
      if path[member.name] != nil { return .path }
      return uri.map { $0[member.name] == nil } == true ? .default : .query
    }
  }
}

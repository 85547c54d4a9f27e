import WayValues

extension RouterSnapshot {
  /// How the router reads a URI. Runs nothing and changes nothing; a text that is no URI is explained too.
  public func explain(_ text: String, params: ValueObject = [:]) -> Explanation {
    var explanation = Explanation(uri: text)
    do throws(RoutingError) {
      let split: SplitURI
      do { split = try SplitURI(RouteURI(mapping: text)) } catch { throw .invalidURI(error) }
      let candidates = Candidates(of: self, split)
      explanation.candidates = candidates.told
      explanation.route = candidates.chosen.map { trie.payloads[$0.entry] }
      explanation.pattern = candidates.chosen.map { trie.patterns[$0.entry] }
      explanation.kind = explanation.route?.kind
      let resolution = try resolve(split, params: params)
      explanation.resolution = resolution
      try explanation.take(resolution, split, params, plusIsSpace: plusIsSpace)
    } catch {
      explanation.reason = "\(error)"
    }
    return explanation
  }
}

extension Explanation {
  fileprivate mutating func take(
    _ resolution: Resolution, _ split: borrowing SplitURI, _ given: ValueObject, plusIsSpace: Bool
  ) throws(RoutingError) {
    var path = ValueObject()
    switch resolution {
    case .match(let match):
      canOpen = true
      params = match.params
      path = match.pathParams
      reason = "by the pattern '\(pattern?.text.brief ?? "")'"
    case .navigation(_, let operation, let merged):
      canOpen = operation == "back"
      kind = canOpen ? .task : nil
      params = merged
      reason =
        canOpen
        ? "goes back on the stack" : "'\(operation.brief)' is no operation of the stack; 'back' is"
    case .undeclared(_, let dispatcher, let merged):
      params = merged
      if case .custom? = dispatcher?.action {
        canOpen = true
        kind = .task
        reason = "no declared route matches; the scheme's dispatcher answers"
      } else {
        reason = "no declared route matches"
      }
    }
    sources = params.members.map { member in
      given[member.name] != nil ? .params : path[member.name] != nil ? .path : .query
    }
  }
}

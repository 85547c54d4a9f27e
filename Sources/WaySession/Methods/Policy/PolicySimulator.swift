import WayPatterns
import WayRouting
import WayValues

/// A policy that is asked without a server, about somebody who is told by hand.
package struct PolicyTrial {
  private let rulebook: CompiledPolicy?
  private let router: RouterSnapshot

  /// Routes have names, and URIs are redirected, as the router has it. Fails for a rule that cannot
  /// be read.
  package init(_ policy: Policy, _ router: Router) throws(PolicyFault) {
    rulebook = try policy.rulebook()
    self.router = router.snapshot()
  }

  /// By rules that are made ready.
  init(_ rulebook: CompiledPolicy?, _ router: RouterSnapshot) {
    self.rulebook = rulebook
    self.router = router
  }

  /// The names by which cases may be told: of the rules, and of what refuses or allows without one.
  package var verdicts: Set<String> {
    Set((rulebook?.rules ?? []).map(\.name) + ["allow", "default", "permissions"])
  }

  /// `allow`, or the name of the rule that refuses. Fails where a URI leads in a circle.
  package func verdict(on question: PolicyCase) throws(CallError) -> String {
    do throws(CallError) {
      try check(question)
      return "allow"
    } catch {
      guard error.protocolCode == .forbidden, let rule = error.data?["rule"]?.string else {
        throw error
      }
      return rule
    }
  }

  private func check(_ question: PolicyCase) throws(CallError) {
    let rights = rights(of: question.asker)
    let method =
      MethodTable.own.first { $0.name == question.method }
      ?? Method(question.method, access: .member) { _ throws(CallError) in .null }
    // Nobody who has no session yet has rights to ask.
    if case .connection = method.access { return }
    try rights.enter(method.name, method.kind)
    switch question.subject {
    case .nothing: break
    case .uri(let uri):
      guard let method = RouteMethod.allCases.first(where: { $0.name == method.name }) else {
        break
      }
      try rights.check(method, try look(up: uri, for: rights.caller))
    case .host(let scheme, let scope):
      var definition: ValueObject = ["kind": "task", "scope": .string(scope.rawValue)]
      if let scheme {
        definition["scheme"] = .string(scheme)
      } else {
        definition["patterns"] = ["/any"]
      }
      try rights.check(
        hosting: [try HostDefinition(.object(definition), path: "host", maxPatterns: 1)])
    }
  }

  /// Why somebody may neither open nor run what a URI leads to, where it goes on for a scheme whose
  /// URIs nothing declares included; nil where it may, and for what leads nowhere.
  package func refusal(to asker: PolicyAsker, ofOpening uri: String) -> CallError? {
    refusal(to: asker.caller, ofOpening: uri)
  }

  /// The same for who calls.
  func refusal(to caller: Caller, ofOpening uri: String) -> CallError? {
    let rights = Rights(caller, PolicySource(rulebook))
    guard var said = try? look(up: uri, for: rights.caller) else { return nil }
    for _ in 0...Redirect.maxHops {
      if let refusal = rights.refusal(ofOpening: said) { return refusal }
      guard case .undeclared(let place, _) = said,
        let next = try? router.undefinedTarget(of: place.uri),
        let reached = try? router.resolve(next, checking: false, for: rights.caller)
      else { break }
      said = reached
    }
    return nil
  }

  private func rights(of asker: PolicyAsker) -> Rights {
    Rights(asker.caller, PolicySource(rulebook))
  }

  /// What a URI says; for what has no route, or none of a kind that fits, that nothing is declared.
  private func look(
    up text: String, for caller: Caller
  ) throws(CallError) -> Resolution {
    let uri: RouteURI
    do { uri = try RouteURI(mapping: text) } catch { throw CallError(.invalidURI(error)) }
    do throws(ResolutionError) {
      return try router.resolve(uri, checking: false, for: caller)
    } catch {
      switch error {
      case .noRoute, .wrongKind:
        return .undeclared(UnmatchedURI(uri.withoutDotSegments), params: [:])
      default: throw CallError(error)
      }
    }
  }
}

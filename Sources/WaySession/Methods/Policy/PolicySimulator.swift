import WayPatterns
import WayRouting
import WayValues

/// Evaluates a policy without a server, for a subject that is given explicitly.
package struct PolicySimulator {
  private let compiledPolicy: CompiledPolicy?
  private let router: RouterSnapshot

  /// Uses the router's names of routes and its redirects. Throws if a rule is invalid.
  package init(_ policy: Policy, _ router: Router) throws(PolicyRuleError) {
    compiledPolicy = try policy.compiled()
    self.router = router.snapshot()
  }

  /// Evaluates rules that are compiled already.
  init(_ compiledPolicy: CompiledPolicy?, _ router: RouterSnapshot) {
    self.compiledPolicy = compiledPolicy
    self.router = router
  }

  /// The decisions that a case may expect: names of rules, and of decisions without a rule.
  package var decisionNames: Set<String> {
    Set((compiledPolicy?.rules ?? []).map(\.name) + ["allow", "default", "permissions"])
  }

  /// `allow`, or the name of the rule that denies the call. Throws if a URI redirects in a circle.
  package func decision(on policyCase: PolicyCase) throws(CallError) -> String {
    do throws(CallError) {
      try check(policyCase)
      return "allow"
    } catch {
      guard error.protocolCode == .forbidden, let rule = error.data?["rule"]?.string else {
        throw error
      }
      return rule
    }
  }

  private func check(_ policyCase: PolicyCase) throws(CallError) {
    let rights = rights(of: policyCase.policySubject)
    let method =
      MethodTable.builtIn.first { $0.name == policyCase.method }
      ?? SessionMethod(policyCase.method) { _, _, _ throws(CallError) in .value(.null) }
    // A client without a session has no rights to check.
    if case .connection = method.access { return }
    try rights.authorize(method.name, method.kind)
    switch policyCase.target {
    case .nothing: break
    case .uri(let uri):
      guard let method = PolicyRouteMethod.allCases.first(where: { $0.name == method.name }) else {
        break
      }
      try rights.check(method, try resolve(uri: uri, for: rights.caller))
    case .topic(let method, let topic): try rights.check(method, topic)
    case .host(let scheme, let scope, let isInterceptor):
      var definition: ValueObject = ["kind": "task", "scope": .string(scope.rawValue)]
      if isInterceptor { definition.merge(["kind": "interceptor", "name": "case"]) }
      if let scheme {
        definition["scheme"] = .string(scheme)
      } else {
        definition["patterns"] = ["/any"]
      }
      try rights.check(
        hosting: [try SessionHostDefinition(.object(definition), path: "host", maxPatterns: 1)])
    }
  }

  /// The reason why a subject may neither open nor run the target of a URI. This includes targets
  /// to which a scheme redirects undeclared URIs. Nil if it may, or if the URI has no target.
  package func denial(to subject: PolicySubject, ofOpening uri: String) -> CallError? {
    denial(to: subject.caller, ofOpening: uri)
  }

  /// The denial for a caller, as for a subject.
  func denial(to caller: Caller, ofOpening uri: String) -> CallError? {
    let rights = Rights(caller, PolicySource(compiledPolicy))
    guard var resolution = try? resolve(uri: uri, for: rights.caller) else { return nil }
    for _ in 0...Redirect.maxRedirects {
      if let denial = rights.denial(ofOpening: resolution) { return denial }
      guard case .unmatched(let place, _) = resolution,
        let next = try? router.undefinedTarget(of: place.uri),
        let nextResolution = try? router.resolve(next, checking: false, for: rights.caller)
      else { break }
      resolution = nextResolution
    }
    return nil
  }

  private func rights(of subject: PolicySubject) -> Rights {
    Rights(subject.caller, PolicySource(compiledPolicy))
  }

  /// Resolves a URI. Without a route, or a route of a suitable kind, the result is
  /// `Resolution.unmatched`.
  private func resolve(
    uri text: String, for caller: Caller
  ) throws(CallError) -> Resolution {
    let uri: RouteURI
    do { uri = try RouteURI(mapping: text) } catch { throw CallError(.invalidURI(error)) }
    do throws(RouterResolutionError) {
      return try router.resolve(uri, checking: false, for: caller)
    } catch {
      switch error {
      case .noRoute, .wrongKind:
        return .unmatched(UnmatchedURI(uri.withoutDotSegments), params: [:])
      default: throw CallError(error)
      }
    }
  }
}

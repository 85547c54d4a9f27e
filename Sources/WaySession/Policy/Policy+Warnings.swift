import WayPatterns
import WayValues

extension Policy {
  /// Warnings about valid rules that are probably mistakes, one sentence each.
  ///
  /// A rule that denies some URIs of a scheme protects nothing if another rule allows all others. The
  /// host decides how to read a URI, and may read an allowed one as a denied one.
  package var warnings: [String] {
    let rules = rules ?? []
    return rules.filter { $0.effect == .deny }.flatMap { denial in
      (denial.routes ?? []).compactMap { route in
        guard route.isRoutePattern, let scheme = RoutePattern.scheme(of: route) else { return nil }
        let opening = rules.first { rule in
          rule.effect == .allow && rule.sharesMethod(with: denial) && rule.opens(scheme)
        }
        guard let opening else { return nil }
        return """
          the rule \(denial.name.quoted) denies \(route), but the rule \(opening.name.quoted) allows \
          all other URIs of the scheme; allow only the URIs that are needed, because a host may read \
          one of the others as the denied one
          """
      }
    }
  }
}

extension Policy.Rule {
  /// Whether a method exists that both rules select.
  fileprivate func sharesMethod(with other: Policy.Rule) -> Bool {
    methods.contains { one in
      other.methods.contains { MethodPattern(one).covers($0) || MethodPattern($0).covers(one) }
    }
  }

  /// Whether the rule selects every URI of a scheme.
  fileprivate func opens(_ scheme: String) -> Bool {
    guard schemes == nil, topics == nil else { return false }
    guard let routes else { return true }
    let open = ["/*", "\(scheme):*", "\(scheme):/*", "\(scheme)://*"]
    return routes.contains { open.contains($0.lowercased()) }
  }
}

import WayValues

extension RouteExplanation {
  /// The explanation for people, in several lines, without a final line break.
  public var text: String { Self.text(of: value) }

  /// Returns the text of a ``value``, which may be another router's, from a response of
  /// `router.explain`.
  package static func text(of explanation: Value) -> String {
    var lines = [briefText(explanation["uri"])]
    var leads = briefText(explanation["kind"])
    if let name = explanation["route"]?["name"] { leads += " '\(briefText(name))'" }
    if let host = explanation["host"]?.string { leads += " of \(host.brief)" }
    lines.append(
      "  \(explanation["canOpen"]?.bool == true ? "opens" : "does not open"): "
        + "\(leads.isEmpty ? "" : leads + ", ")\(briefText(explanation["reason"]))")
    if let rule = explanation["policy"]?.string {
      lines.append("  refused by the policy: \(rule.brief)")
    }
    for redirect in explanation["redirects"]?.array ?? [] {
      lines.append("  redirected to: \(briefText(redirect))")
    }
    for release in explanation["releases"]?.array ?? [] {
      lines.append("  released: \(briefText(release))")
    }
    if let names = explanation["interceptors"]?.array, !names.isEmpty {
      lines.append("  intercepted by: " + names.map { briefText($0) }.joined(separator: ", "))
    }
    if let fallback = explanation["fallback"]?.string {
      lines.append("  if no host or handler serves it: \(fallback.brief)")
    }
    if let params = explanation["params"]?.object, !params.isEmpty {
      lines.append("  parameters:")
      for member in params.members {
        let source = briefText(explanation["sources"]?[member.name])
        lines.append("    \(member.name.brief) = \(member.value.brief)  (\(source))")
      }
    }
    if let candidates = explanation["candidates"]?.array, !candidates.isEmpty {
      lines.append("  tried:")
      for candidate in candidates {
        let columns = ["route", "pattern", "reason"].map { briefText(candidate[$0]) }
        lines.append(
          "    \(candidate["chosen"]?.bool == true ? "*" : "-") "
            + columns.joined(separator: "  "))
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func briefText(_ value: Value?) -> String { value?.string?.brief ?? "" }
}

import WayValues

extension Explanation {
  /// For people, in several lines, the last without its end.
  public var text: String { Self.text(of: value) }

  /// The same of a ``value``, which may be another router's: `router.explain` answers it.
  package static func text(of explanation: Value) -> String {
    var lines = [told(explanation["uri"])]
    var leads = told(explanation["kind"])
    if let name = explanation["route"]?["name"] { leads += " '\(told(name))'" }
    if let host = explanation["host"]?.string { leads += " of \(host.brief)" }
    lines.append(
      "  \(explanation["canOpen"]?.bool == true ? "opens" : "does not open"): "
        + "\(leads.isEmpty ? "" : leads + ", ")\(told(explanation["reason"]))")
    if let rule = explanation["policy"]?.string {
      lines.append("  refused by the policy: \(rule.brief)")
    }
    for redirect in explanation["redirects"]?.list ?? [] {
      lines.append("  redirected to: \(told(redirect))")
    }
    for release in explanation["releases"]?.list ?? [] {
      lines.append("  released: \(told(release))")
    }
    if let names = explanation["interceptors"]?.list, !names.isEmpty {
      lines.append("  intercepted by: " + names.map { told($0) }.joined(separator: ", "))
    }
    if let fallback = explanation["fallback"]?.string {
      lines.append("  if nobody serves it: \(fallback.brief)")
    }
    if let params = explanation["params"]?.object, !params.isEmpty {
      lines.append("  parameters:")
      for member in params.members {
        let source = told(explanation["sources"]?[member.name])
        lines.append("    \(member.name.brief) = \(member.value.brief)  (\(source))")
      }
    }
    if let candidates = explanation["candidates"]?.list, !candidates.isEmpty {
      lines.append("  tried:")
      for candidate in candidates {
        let columns = ["route", "pattern", "reason"].map { told(candidate[$0]) }
        lines.append(
          "    \(candidate["chosen"]?.bool == true ? "*" : "-") "
            + columns.joined(separator: "  "))
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func told(_ value: Value?) -> String { value?.string?.brief ?? "" }
}

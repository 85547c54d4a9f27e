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
    for redirect in explanation["redirects"]?.list ?? [] {
      lines.append("  redirected to: \(told(redirect))")
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

extension String {
  /// Cut to what fits a line, without what would disturb it.
  var brief: String {
    var result = ""
    for scalar in unicodeScalars.prefix(200) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        result += scalar.escaped(asASCII: true)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return unicodeScalars.dropFirst(200).isEmpty ? result : result + "…"
  }
}

extension Value {
  /// Like JSON, cut to what fits a line.
  var brief: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let number): number.digits.brief
    case .string(let text): "\"\(text.brief)\""
    case .list(let values):
      "[" + values.prefix(8).map(\.inner).joined(separator: ", ")
        + (values.count > 8 ? ", …]" : "]")
    case .object(let object):
      "{"
        + object.members.prefix(8).map { "\($0.name.brief): \($0.value.inner)" }
        .joined(separator: ", ") + (object.count > 8 ? ", …}" : "}")
    }
  }

  /// As ``brief``, without what is deeper.
  private var inner: String {
    switch self {
    case .list(let values): values.isEmpty ? "[]" : "[…]"
    case .object(let object): object.isEmpty ? "{}" : "{…}"
    default: brief
    }
  }
}

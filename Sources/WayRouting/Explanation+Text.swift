import WayValues

extension Explanation {
  /// For people, in several lines, the last without its end.
  public var text: String {
    var lines = [uri.brief]
    let leads = kind.map { kind in
      route.map { "\(kind.rawValue) '\($0.name.brief)'" } ?? kind.rawValue
    }
    lines.append(
      "  \(canOpen ? "opens" : "does not open"): \(leads.map { "\($0), " } ?? "")\(reason)")
    for redirect in redirects { lines.append("  redirected to: \(redirect.brief)") }
    if !interceptors.isEmpty {
      lines.append("  intercepted by: " + interceptors.map(\.brief).joined(separator: ", "))
    }
    if let fallback { lines.append("  if nobody serves it: \(fallback.brief)") }
    if !params.isEmpty {
      lines.append("  parameters:")
      for (member, source) in zip(params.members, sources) {
        lines.append("    \(member.name.brief) = \(member.value.brief)  (\(source.rawValue))")
      }
    }
    if !candidates.isEmpty {
      lines.append("  tried:")
      for candidate in candidates {
        lines.append(
          "    \(candidate.isChosen ? "*" : "-") \(candidate.route.brief)  \(candidate.pattern.brief)"
            + "  \(candidate.reason)")
      }
    }
    return lines.joined(separator: "\n")
  }
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

extension String {
  /// The string, shortened to fit a line, with control characters escaped.
  package var brief: String {
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
  /// The value similar to JSON, shortened to fit a line.
  package var brief: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let number): number.digits.brief
    case .string(let text): "\"\(text.brief)\""
    case .array(let values):
      "[" + values.prefix(8).map(\.shallowBrief).joined(separator: ", ")
        + (values.count > 8 ? ", …]" : "]")
    case .object(let object):
      "{"
        + object.members.prefix(8).map { "\($0.name.brief): \($0.value.shallowBrief)" }
        .joined(separator: ", ") + (object.count > 8 ? ", …}" : "}")
    }
  }

  /// The value as in ``brief``, without its nested values.
  private var shallowBrief: String {
    switch self {
    case .array(let values): values.isEmpty ? "[]" : "[…]"
    case .object(let object): object.isEmpty ? "{}" : "{…}"
    default: brief
    }
  }
}

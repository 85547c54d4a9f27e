extension String {
  /// Cut to what fits a line, without what would disturb it.
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
  /// Like JSON, cut to what fits a line.
  package var brief: String {
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

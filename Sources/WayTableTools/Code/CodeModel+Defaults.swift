import WayValues

extension CodeModel {
  /// A parameter's default as a literal. Returns `nil` if it has none, or if the server has to fill
  /// it in. `one` writes a value of an enumeration.
  func literal(
    ofDefault member: CodeMember, one: (_ type: String, _ identifier: String) -> String
  ) -> String? {
    guard let value = member.defaultValue else { return nil }
    if value.isNull {
      guard member.type.isNullable else { return nil }
      return language == .swift ? "nil" : "null"
    }
    return literal(value, of: member.type.unwrapped, one)
  }

  private func literal(
    _ value: Value, of type: CodeType, _ one: (String, String) -> String
  ) -> String? {
    switch (type, value) {
    case (.string, .string(let text)): return language.literal(text)
    case (.boolean, .bool(let truth)): return "\(truth)"
    case (.integer, .integer(let integer)): return language.literal(integer)
    case (.number, _): return value.double.flatMap { $0.isFinite ? "\($0)" : nil }
    case (.declared(let index), _):
      let declaration = declaration(index)
      switch declaration.kind {
      case .alias(let other): return literal(value, of: other, one)
      case .enumeration(let cases):
        return cases.first { $0.value == value }.map { one(declaration.identifier, $0.identifier) }
      case .structure: return nil
      }
    default: return nil
    }
  }
}

import WayValues

/// What there is to do on a page: pick, fill in, or read.
package enum Content: Sendable, Equatable {
  case list([ScreenChoice])
  case form(Form)
  /// Nothing that the table knows of.
  case plain

  /// More entries than anybody looks through.
  private static let maxChoices = 10_000
  /// More fields than anybody fills in.
  private static let maxFields = 100

  /// - Parameters:
  ///   - known: what the shell's own app has for the page, a list of results to choose from.
  ///   - params: the page's; its member `choices`, a list, are the choices of who opens it.
  ///   - result: the schema of the result.
  package init(known: [Value]?, params: ValueObject, result: Value?) {
    if let values = known ?? params["choices"]?.list, !values.isEmpty {
      self = .list(values.prefix(Self.maxChoices).map { ScreenChoice($0) })
    } else if let result {
      self = Self.asking(for: result)
    } else {
      self = .plain
    }
  }

  private static func asking(for result: Value) -> Content {
    if let members = result["properties"]?.object, !members.isEmpty {
      let required = Set(result["required"]?.list?.compactMap(\.string) ?? [])
      let fields = members.members.prefix(maxFields).map {
        FormField($0.name, $0.value, isRequired: required.contains($0.name))
      }
      return list(of: fields) ?? .form(Form(fields, isObject: true))
    }
    let field = FormField("", result, isRequired: true)
    if case .choice(let values) = field.kind { return .list(values.map { ScreenChoice($0) }) }
    return .form(Form([field], isObject: false))
  }

  /// A result of which one member alone has to be told, one of few values, is picked from a list.
  private static func list(of fields: [FormField]) -> Content? {
    let required = fields.filter(\.isRequired)
    guard required.count == 1, let field = required.first, case .choice(let values) = field.kind
    else { return nil }
    return .list(
      values.map {
        let isPlain = $0.bool == nil
        return ScreenChoice(
          .object([field.name: $0]), label: isPlain ? $0.label : "\(field.name): \($0.label)")
      })
  }
}

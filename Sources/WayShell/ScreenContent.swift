import WayValues

/// The content of a screen: choices, a form, or nothing to enter.
package enum ScreenContent: Sendable, Equatable {
  case list([ScreenChoice])
  case form(InputForm)
  /// The table declares no content.
  case plain

  /// Maximum number of entries.
  private static let maxChoices = 10_000
  /// Maximum number of fields.
  private static let maxFields = 100

  /// Selects the content of a screen.
  ///
  /// - Parameters:
  ///   - known: The results that the shell's own app offers for the page.
  ///   - params: The parameters of the page. If the array `choices` is present, its elements are
  ///     the opener's choices.
  ///   - result: The schema of the result.
  package init(known: [Value]?, params: ValueObject, result: Value?) {
    if let values = known ?? params["choices"]?.array, !values.isEmpty {
      self = .list(values.prefix(Self.maxChoices).map { ScreenChoice($0) })
    } else if let result {
      self = Self.input(for: result)
    } else {
      self = .plain
    }
  }

  private static func input(for result: Value) -> ScreenContent {
    if let members = result["properties"]?.object, !members.isEmpty {
      let required = Set(result["required"]?.array?.compactMap(\.string) ?? [])
      let fields = members.members.prefix(maxFields).map {
        FormField($0.name, $0.value, isRequired: required.contains($0.name))
      }
      return list(of: fields) ?? .form(InputForm(fields, isObject: true))
    }
    let field = FormField("", result, isRequired: true)
    if case .choice(let values) = field.kind { return .list(values.map { ScreenChoice($0) }) }
    return .form(InputForm([field], isObject: false))
  }

  /// A list for a result in which only one member is required, with an enumerated value.
  private static func list(of fields: [FormField]) -> ScreenContent? {
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

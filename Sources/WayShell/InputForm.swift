import WayValues

/// Fields that the user fills in one after another.
package struct InputForm: Sendable, Equatable {
  package let fields: [FormField]
  /// The values of the fields before the current one; `nil` for a field that was left out.
  package private(set) var values: [Value?] = []
  private let isObject: Bool

  init(_ fields: [FormField], isObject: Bool) {
    self.fields = fields
    self.isObject = isObject
  }

  /// The field to fill in; `nil` if the form is complete.
  package var currentField: FormField? { values.count < fields.count ? fields[values.count] : nil }

  /// Parses the input for the current field. Throws, with nothing changed, if it is invalid.
  package mutating func fill(_ text: String) throws(FormField.InvalidInput) {
    guard let currentField else { return }
    values.append(try currentField.value(of: text))
  }

  /// Returns to the previous field. Returns false at the first one.
  package mutating func stepBack() -> Bool { values.popLast() != nil }

  /// The values of the form; `nil` while a field is missing.
  package var result: Value? {
    guard currentField == nil else { return nil }
    guard isObject else { return values.first.flatMap(\.self) ?? .null }
    var members = ValueObject()
    for (field, value) in zip(fields, values) { members[field.name] = value }
    return .object(members)
  }
}

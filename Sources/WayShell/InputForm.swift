import WayValues

/// Fields that are filled in one after another.
package struct Form: Sendable, Equatable {
  package let fields: [FormField]
  /// What was taken for each, nil for one that was left out; one by one up to the current.
  package private(set) var values: [Value?] = []
  private let isObject: Bool

  init(_ fields: [FormField], isObject: Bool) {
    self.fields = fields
    self.isObject = isObject
  }

  /// The field that is asked for; nil when all are there.
  package var current: FormField? { values.count < fields.count ? fields[values.count] : nil }

  /// Takes what was typed for the current field. Throws, with nothing changed, where it does not fit.
  package mutating func fill(_ text: String) throws(FormField.Fault) {
    guard let current else { return }
    values.append(try current.value(of: text))
  }

  /// Asks for the field before again; false at the first.
  package mutating func stepBack() -> Bool { values.popLast() != nil }

  /// What was filled in; nil as long as a field is missing.
  package var result: Value? {
    guard current == nil else { return nil }
    guard isObject else { return values.first.flatMap(\.self) ?? .null }
    var members = ValueObject()
    for (field, value) in zip(fields, values) { members[field.name] = value }
    return .object(members)
  }
}

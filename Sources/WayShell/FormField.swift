import WayRPC
import WayValues

/// An input field, as described by a schema of the route table.
package struct FormField: Sendable, Equatable {
  /// The kind of input.
  package enum FieldKind: Sendable, Equatable {
    case text, integer, number
    /// One of the given values.
    case choice([Value])
    /// Anything else, as JSON.
    case json
  }

  /// The name of the member; empty for a result that is not an object.
  package let name: String
  package let title: String
  package let kind: FieldKind
  package let isRequired: Bool
  private let isNullable: Bool
  private let schema: ValueObject

  /// The reason why an input is invalid.
  package struct InvalidInput: Error, Equatable {
    package let text: String
  }

  package init(_ name: String, _ schema: Value, isRequired: Bool) {
    self.name = name
    self.isRequired = isRequired
    self.schema = schema.object ?? [:]
    title = self.schema["title"]?.string ?? ""
    let types = self.schema["type"].map { $0.array ?? [$0] }?.compactMap(\.string) ?? []
    isNullable = types.contains("null")
    kind = Self.kind(types.first ?? "", self.schema["enum"]?.array)
  }

  private static func kind(_ type: String, _ values: [Value]?) -> FieldKind {
    if let values, !values.isEmpty { return .choice(values) }
    return switch type {
    case "string": .text
    case "integer": .integer
    case "number": .number
    case "boolean": .choice([true, false])
    default: .json
    }
  }

  /// The value for an empty input.
  package var defaultValue: Value? { schema["default"] }

  /// Parses an input. Returns `nil` if it is empty and the field is optional.
  package func value(of text: String) throws(InvalidInput) -> Value? {
    if text.isEmpty {
      if let defaultValue { return defaultValue }
      guard isRequired else { return nil }
      if isNullable { return .null }
      if kind == .text, minLength == 0 { return "" }
      throw InvalidInput(text: "\(label) must not be empty: \(hint)")
    }
    switch kind {
    case .text:
      let count = text.unicodeScalars.count
      guard count >= minLength, count <= maxLength else {
        throw InvalidInput(text: "\(label) has \(count) characters: \(hint)")
      }
      return .string(text)
    case .integer:
      guard let number = Int64(text), isInRange(Double(number)) else { throw invalidInput }
      return .integer(number)
    case .number:
      guard let number = Number(digits: text), isInRange(number.double) else { throw invalidInput }
      return Int64(text).map(Value.integer) ?? .number(number)
    case .choice(let values):
      if let value = values.first(where: { $0.label == text }) { return value }
      guard let number = Int(text), values.indices.contains(number - 1) else { throw invalidInput }
      return values[number - 1]
    case .json:
      do throws(JSONError) {
        return try JSON.parse(text)
      } catch {
        throw InvalidInput(text: "\(label) is not JSON: \(error)")
      }
    }
  }

  /// The label on the screen.
  package var label: String { name.isEmpty ? (title.isEmpty ? "value" : title) : name }

  /// A description of valid input.
  package var hint: String {
    let kind =
      switch kind {
      case .text: schema["format"]?.string ?? "text"
      case .integer: "an integer"
      case .number: "a number"
      case .choice(let values):
        values.enumerated().map { "\($0 + 1) \($1.label)" }.joined(separator: ", ")
      case .json: "JSON"
      }
    let empty = defaultValue.map { "empty for \($0.label)" } ?? (isRequired ? nil : "may be empty")
    return [kind, bounds, empty].compactMap(\.self).joined(separator: "; ")
  }

  private var bounds: String? {
    let names =
      switch kind {
      case .text: ("minLength", "maxLength")
      default: ("minimum", "maximum")
      }
    let of = kind == .text ? " characters" : ""
    return switch (schema[names.0]?.label, schema[names.1]?.label) {
    case (let least?, let most?): "\(least) to \(most)\(of)"
    case (let least?, nil): "at least \(least)\(of)"
    case (nil, let most?): "at most \(most)\(of)"
    case (nil, nil): nil
    }
  }

  private var minLength: Int { schema["minLength"]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
  private var maxLength: Int { schema["maxLength"]?.integer.flatMap { Int(exactly: $0) } ?? .max }

  private func isInRange(_ number: Double) -> Bool {
    number.isFinite && number >= schema["minimum"]?.double ?? -.infinity
      && number <= schema["maximum"]?.double ?? .infinity
  }

  private var invalidInput: InvalidInput { InvalidInput(text: "\(label) must be \(hint)") }
}

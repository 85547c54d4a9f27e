import WayRPC
import WayValues

/// A value that somebody is to type, as a route table's schema describes it.
package struct FormField: Sendable, Equatable {
  /// What is typed for it.
  package enum Kind: Sendable, Equatable {
    case text, integer, number
    /// One of these.
    case choice([Value])
    /// Anything else, as JSON.
    case json
  }

  /// The name of the member; empty for a result that is no object.
  package let name: String
  package let title: String
  package let kind: Kind
  package let isRequired: Bool
  private let isNullable: Bool
  private let schema: ValueObject

  /// Why what was typed cannot be taken.
  package struct Fault: Error, Equatable {
    package let text: String
  }

  package init(_ name: String, _ schema: Value, isRequired: Bool) {
    self.name = name
    self.isRequired = isRequired
    self.schema = schema.object ?? [:]
    title = self.schema["title"]?.string ?? ""
    let types = self.schema["type"].map { $0.list ?? [$0] }?.compactMap(\.string) ?? []
    isNullable = types.contains("null")
    kind = Self.kind(types.first ?? "", self.schema["enum"]?.list)
  }

  private static func kind(_ type: String, _ values: [Value]?) -> Kind {
    if let values, !values.isEmpty { return .choice(values) }
    return switch type {
    case "string": .text
    case "integer": .integer
    case "number": .number
    case "boolean": .choice([true, false])
    default: .json
    }
  }

  /// What is taken where nothing is typed.
  package var initial: Value? { schema["default"] }

  /// The value of what was typed; nil where nothing was, and nothing has to be.
  package func value(of text: String) throws(Fault) -> Value? {
    if text.isEmpty {
      if let initial { return initial }
      guard isRequired else { return nil }
      if isNullable { return .null }
      if kind == .text, least == 0 { return "" }
      throw Fault(text: "\(label) must not be empty: \(hint)")
    }
    switch kind {
    case .text:
      let count = text.unicodeScalars.count
      guard count >= least, count <= most else {
        throw Fault(text: "\(label) has \(count) characters: \(hint)")
      }
      return .string(text)
    case .integer:
      guard let number = Int64(text), isInRange(Double(number)) else { throw unfit }
      return .integer(number)
    case .number:
      guard let number = Number(digits: text), isInRange(number.double) else { throw unfit }
      return Int64(text).map(Value.integer) ?? .number(number)
    case .choice(let values):
      if let value = values.first(where: { $0.label == text }) { return value }
      guard let number = Int(text), values.indices.contains(number - 1) else { throw unfit }
      return values[number - 1]
    case .json:
      do throws(JSONError) {
        return try JSON.parse(text)
      } catch {
        throw Fault(text: "\(label) is not JSON: \(error)")
      }
    }
  }

  /// How it is called on the screen.
  package var label: String { name.isEmpty ? (title.isEmpty ? "value" : title) : name }

  /// What may be typed.
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
    let empty = initial.map { "empty for \($0.label)" } ?? (isRequired ? nil : "may be empty")
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

  private var least: Int { schema["minLength"]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
  private var most: Int { schema["maxLength"]?.integer.flatMap { Int(exactly: $0) } ?? .max }

  private func isInRange(_ number: Double) -> Bool {
    number.isFinite && number >= schema["minimum"]?.double ?? -.infinity
      && number <= schema["maximum"]?.double ?? .infinity
  }

  private var unfit: Fault { Fault(text: "\(label) must be \(hint)") }
}

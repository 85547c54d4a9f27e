import WayValues

/// What a route says of one of its parameters.
public struct ParameterDeclaration: Sendable, Hashable {
  /// What kind of value it takes; the words of JSON Schema.
  public enum Kind: String, Sendable, CaseIterable {
    /// Text.
    case string
    /// A number that 64 bits with sign hold exactly, however it is written: `5.0` and `1e3` are 5
    /// and 1000.
    case integer
    /// Any number.
    case number
    /// True or false.
    case boolean
    /// A list.
    case array
    /// An object.
    case object
  }

  /// The parameter's name; of a wildcard `*`.
  public let name: String
  /// What kind of value it takes. Text of path and query is turned into it, the caller's values
  /// never are.
  public let kind: Kind
  /// A few words for people.
  public let title: String?
  /// Whether a call without it is refused.
  public let isRequired: Bool
  /// What it is where a call does not say; nil for nothing.
  public let defaultValue: Value?
  /// The values that are taken; nil for all of the kind.
  public let allowed: [Value]?

  /// A declaration. A default and allowed values that do not fit `kind` are refused when the route
  /// is registered.
  public init(
    _ name: String, _ kind: Kind, title: String? = nil, isRequired: Bool = false,
    defaultValue: Value? = nil, allowed: [Value]? = nil
  ) {
    self.name = name
    self.kind = kind
    self.title = title
    self.isRequired = isRequired
    self.defaultValue = defaultValue.map { kind.integer(of: $0) ?? $0 }
    self.allowed = allowed?.map { kind.integer(of: $0) ?? $0 }
  }

  /// As a route table has it, without the name.
  package var value: Value {
    var members: ValueObject = ["type": .string(kind.rawValue)]
    members["title"] = title.map(Value.string)
    if isRequired { members["required"] = true }
    members["default"] = defaultValue
    members["enum"] = allowed.map(Value.list)
    return .object(members)
  }

  /// Why the declaration makes no sense.
  package var fault: String? {
    for value in (allowed ?? []) + [defaultValue].compactMap(\.self) {
      if let fault = kind.fault(of: value) { return "a default or allowed value \(fault)" }
    }
    if isRequired, defaultValue != nil {
      return "a required parameter has no use for a default"
    }
    if let allowed, allowed.isEmpty { return "no value is allowed" }
    if let allowed, let defaultValue, !allowed.contains(defaultValue) {
      return "the default is not one of the allowed values"
    }
    return nil
  }

  /// What is wrong with a value of this parameter.
  func fault(of value: Value) -> String? {
    if let fault = kind.fault(of: value) { return fault }
    guard let allowed, !allowed.contains(where: { $0.isSame(as: value) }) else { return nil }
    let words = allowed.prefix(16).map(\.brief).joined(separator: ", ")
    return "has to be one of \(words)\(allowed.count > 16 ? ", …" : "")"
  }
}

extension ParameterDeclaration.Kind {
  /// What is wrong with a value of this kind; a number that ``integer(of:)`` has a value for is that.
  func fault(of value: Value) -> String? {
    let fits =
      switch (self, value) {
      case (.string, .string), (.boolean, .bool), (.array, .list), (.object, .object): true
      case (.integer, .integer), (.number, .integer), (.number, .number): true
      default: false
      }
    if case (.integer, .number(let number)) = (self, value), number.isInteger {
      return Self.tooWide
    }
    return fits
      ? nil : "has to be \(described); it is \(value.isNull ? "null" : value.kindName.withArticle)"
  }

  /// What is wrong with a number that is an integer all the same.
  private static let tooWide = "is beyond an integer of 64 bits"

  /// The integer that a number which is written otherwise is handed on as; nil for any other value.
  func integer(of value: Value) -> Value? {
    guard self == .integer, case .number(let number) = value else { return nil }
    return number.exactly(Int64.self).map(Value.integer)
  }

  /// What is wrong with text of a path or query that stands for no value.
  func fault(ofText text: String) -> String {
    switch self {
    case .object: "has to be \(described); give it in params"
    case .integer where Number(digits: text)?.isInteger == true: Self.tooWide
    default: "has to be \(described), and '\(text.brief)' is none"
    }
  }

  /// The value that text of a path or query stands for; nil where it stands for none.
  func value(of text: String) -> Value? {
    switch self {
    case .string: return .string(text)
    case .integer: return Number(digits: text)?.exactly(Int64.self).map(Value.integer)
    case .number:
      return Int64(text).map(Value.integer) ?? Number(digits: text).map(Value.number)
    case .boolean:
      switch text {
      case "true", "1", "": return true
      case "false", "0": return false
      default: return nil
      }
    case .array: return [.string(text)]
    case .object: return nil
    }
  }

  var described: String { rawValue.withArticle }
}

extension String {
  fileprivate var withArticle: String {
    "aeiou".unicodeScalars.contains(unicodeScalars.first ?? "x") ? "an \(self)" : "a \(self)"
  }
}

extension Value {
  /// Whether both are the same, numbers by their value.
  fileprivate func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
      number.double == Double(integer)
    case (.number(let left), .number(let right)): left == right || left.double == right.double
    default: self == other
    }
  }
}

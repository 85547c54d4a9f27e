/// A JSON-like value: what parameters, results and exts are made of.
///
/// Strings are compared as UTF-8 bytes: Swift's own `==` joins composed and decomposed forms, which
/// JSON and URIs keep apart.
public enum Value: Sendable {
  /// JSON's `null`.
  case null
  /// True or false.
  case bool(Bool)
  /// A number that was written as an integer and fits 64 bits with sign.
  case integer(Int64)
  /// Any other number, with the digits it was written with.
  case number(Number)
  /// Text; a JSON string without lone surrogates.
  case string(String)
  /// A JSON array.
  case list([Value])
  /// A JSON object.
  case object(ValueObject)
}

extension Value: Hashable {
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.isSameUTF8(as: b)
    case (.list(let a), .list(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): value.hashUTF8(into: &hasher)
    case .list(let values): hasher.combine(values)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension Value {
  /// The text, when this is a string.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The integer, when this is one.
  public var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The nearest double, when this is a number; infinite beyond a double's range.
  public var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let number): number.double
    default: nil
    }
  }

  /// The truth value, when this is one.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The elements, when this is a list.
  public var list: [Value]? {
    if case .list(let value) = self { value } else { nil }
  }

  /// The members, when this is an object.
  public var object: ValueObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The value of a member, when this is an object that has it.
  public subscript(name: String) -> Value? { object?[name] }

  /// What kind of value this is, in JSON's words: `null`, `boolean`, `number`, `string`, `array` or
  /// `object`.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer, .number: "number"
    case .string: "string"
    case .list: "array"
    case .object: "object"
    }
  }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = Value(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .object(ValueObject(elements))
  }

  /// A number; `null` for NaN and the infinities, which JSON cannot write.
  public init(_ value: Double) {
    self = Number(value).map(Value.number) ?? .null
  }
}

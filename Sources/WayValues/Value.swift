/// A JSON value: the type of parameters, results and exts.
///
/// Strings are compared as UTF-8 bytes. Swift's own `==` equates composed and decomposed forms,
/// which differ in JSON and URIs.
public enum Value: Sendable {
  /// JSON's `null`.
  case null
  /// A boolean.
  case bool(Bool)
  /// A number that was written as an integer and fits a signed 64-bit integer.
  case integer(Int64)
  /// Any other number, with the digits it was written with.
  case number(Number)
  /// A string without lone surrogates.
  case string(String)
  /// A JSON array.
  case array([Value])
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
    case (.array(let a), .array(let b)): a == b
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
    case .array(let values): hasher.combine(values)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension Value {
  /// The string, if this is one.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The integer, if this is one.
  public var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The exact integer value, if this is an integer however it is written: 7 for `7`, `7.0` and
  /// `70e-1`.
  package var exactInteger: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let number): number.exactly(Int64.self)
    default: nil
    }
  }

  /// The nearest double, if this is a number; infinite beyond a double's range.
  public var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let number): number.double
    default: nil
    }
  }

  /// The boolean, if this is one.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The elements, if this is an array.
  public var array: [Value]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members, if this is an object.
  public var object: ValueObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The value of a member, if this is an object that has it.
  public subscript(name: String) -> Value? { object?[name] }

  /// The JSON type of the value: `null`, `boolean`, `number`, `string`, `array` or `object`.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer, .number: "number"
    case .string: "string"
    case .array: "array"
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
  public init(arrayLiteral elements: Value...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .object(ValueObject(literal: elements))
  }

  /// A number; `null` for NaN and the infinities, which JSON cannot write.
  public init(_ value: Double) {
    self = Number(value).map(Value.number) ?? .null
  }
}

/// Decodes `Decodable` types from values, strictly: an integer only from a number that is one and
/// fits, a string only from a string. Members that the type does not name are ignored.
public struct ValueDecoder: Sendable {
  /// Whether numbers and booleans are parsed from strings too, as in a URI: `7`, `true`, `false`,
  /// `1` and `0`.
  public let parsesStrings: Bool

  /// Creates a decoder, strict unless `parsesStrings` is `true`.
  public init(parsesStrings: Bool = false) {
    self.parsesStrings = parsesStrings
  }

  /// Decodes a value. Throws `DecodingError` with the path of the fault.
  public func decode<Result: Decodable>(
    _ type: Result.Type = Result.self, from value: Value
  ) throws -> Result {
    try ValueReader(value, [], parsesStrings: parsesStrings).read(type)
  }
}

/// Reads one value.
struct ValueReader: Decoder, SingleValueDecodingContainer {
  let value: Value
  let codingPath: [any CodingKey]
  let parsesStrings: Bool
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ value: Value, _ path: [any CodingKey], parsesStrings: Bool) {
    self.value = value
    codingPath = path
    self.parsesStrings = parsesStrings
  }

  func nested(_ key: any CodingKey, _ value: Value) -> ValueReader {
    ValueReader(value, codingPath + [key], parsesStrings: parsesStrings)
  }

  func read<Result: Decodable>(_ type: Result.Type) throws -> Result {
    if let value = value as? Result { return value }
    return try Result(from: self)
  }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard let object = value.object else { throw mismatch([String: Value].self, "an object") }
    return KeyedDecodingContainer(ValueObjectReader(object: object, reader: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let list = value.array else { throw mismatch([Value].self, "an array") }
    return ValueArrayReader(array: list, reader: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value.isNull }

  func decode(_ type: Bool.Type) throws -> Bool {
    if let bool = value.bool { return bool }
    switch parsesStrings ? value.string : nil {
    case "true", "1", "": return true
    case "false", "0": return false
    default: throw mismatch(type, "true or false")
    }
  }

  func decode(_ type: String.Type) throws -> String {
    guard let text = value.string else { throw mismatch(type, "a string") }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double { try float(Double.init(exactly:)) }

  func decode(_ type: Float.Type) throws -> Float { try float { Float($0) } }

  func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer {
    switch number {
    case .integer(let value):
      if let value = Integer(exactly: value) { return value }
      throw corrupted("\(value) is beyond \(type.min)…\(type.max)")
    case .number(let number) where number.isInteger:
      if let value = number.exactly(type) { return value }
      throw corrupted("\(number.digits.prefix(40)) is beyond \(type.min)…\(type.max)")
    default: throw mismatch(type, "an integer")
    }
  }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try read(type)
  }

  /// The value, or the number that its string contains.
  private var number: Value {
    guard parsesStrings, let text = value.string, let number = Number(digits: text) else {
      return value
    }
    return Int64(text).map(Value.integer) ?? .number(number)
  }

  private func float<Result: BinaryFloatingPoint>(
    _ convert: (Double) -> Result?
  ) throws -> Result {
    let double: Double
    switch number {
    case .integer(let value): double = Double(value)
    case .number(let number): double = number.double
    default: throw mismatch(Result.self, "a number")
    }
    guard let result = convert(double), result.isFinite else {
      throw corrupted("the number is beyond the range of \(Result.self)")
    }
    return result
  }

  private func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    if value.isNull {
      return .valueNotFound(
        type, .init(codingPath: codingPath, debugDescription: "has to be \(expected); it is null"))
    }
    return .typeMismatch(
      type,
      .init(
        codingPath: codingPath,
        debugDescription: "has to be \(expected); it is of type \(value.kindName)"))
  }

  private func corrupted(_ message: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: message))
  }
}

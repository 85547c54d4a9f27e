/// Encodes `Encodable` types as values. Members keep the order in which a type encodes them.
public struct ValueEncoder: Sendable {
  /// Creates an encoder.
  public init() {}

  /// Encodes a value. Throws `EncodingError` for numbers that JSON cannot write (NaN, the
  /// infinities), and the errors of the type.
  public func encode(_ value: some Encodable) throws -> Value {
    let slot = ValueSlot()
    try ValueWriter(slot, nil).write(value)
    return slot.value
  }
}

/// The storage for one value, which is written as a whole or in parts.
final class ValueSlot {
  /// A member or an element: most are written as a whole, without a slot of their own.
  private enum SlotPart {
    case value(Value)
    case slot(ValueSlot)

    var value: Value {
      switch self {
      case .value(let value): value
      case .slot(let slot): slot.value
      }
    }
  }

  private enum SlotContent {
    case value(Value)
    case object([(name: String, part: SlotPart)])
    case array([SlotPart])
  }

  private var content = SlotContent.object([])

  func set(_ value: Value) { content = .value(value) }

  /// Turns the slot into an object, unless it is one already.
  func beginObject() {
    if case .object = content { return }
    content = .object([])
  }

  func beginArray() {
    if case .array = content { return }
    content = .array([])
  }

  func addMember(_ name: String, _ value: Value) { add(.value(value), name) }

  func addMember(_ name: String) -> ValueSlot {
    let slot = ValueSlot()
    add(.slot(slot), name)
    return slot
  }

  private func add(_ part: SlotPart, _ name: String) {
    guard case .object(var members) = content else { return }
    content = .array([])
    members.append((name, part))
    content = .object(members)
  }

  func addElement(_ value: Value) { add(.value(value)) }

  func addElement() -> ValueSlot {
    let slot = ValueSlot()
    add(.slot(slot))
    return slot
  }

  private func add(_ part: SlotPart) {
    guard case .array(var elements) = content else { return }
    content = .object([])
    elements.append(part)
    content = .array(elements)
  }

  var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

  var value: Value {
    switch content {
    case .value(let value): value
    case .object(let members): .object(ValueObject(members.map { ($0.name, $0.part.value) }))
    case .array(let elements): .array(elements.map(\.value))
    }
  }
}

/// The place of a value in those around it. Only errors need it as an array.
final class ValuePath {
  private let key: any CodingKey
  private let parent: ValuePath?

  init(_ key: any CodingKey, in parent: ValuePath?) {
    self.key = key
    self.parent = parent
  }

  var keys: [any CodingKey] { (parent?.keys ?? []) + [key] }
}

/// Writes one value.
struct ValueWriter: Encoder, SingleValueEncodingContainer {
  let slot: ValueSlot
  let path: ValuePath?
  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ slot: ValueSlot, _ path: ValuePath?) {
    self.slot = slot
    self.path = path
  }

  func write<Content: Encodable>(_ content: Content) throws {
    if let value = try Self.value(of: content, at: codingPath) {
      slot.set(value)
    } else {
      try content.encode(to: self)
    }
  }

  private static let integerTypes: Set<ObjectIdentifier> = [
    ObjectIdentifier(Int.self), ObjectIdentifier(UInt.self), ObjectIdentifier(Int8.self),
    ObjectIdentifier(UInt8.self), ObjectIdentifier(Int16.self), ObjectIdentifier(UInt16.self),
    ObjectIdentifier(Int32.self), ObjectIdentifier(UInt32.self), ObjectIdentifier(Int64.self),
    ObjectIdentifier(UInt64.self), ObjectIdentifier(Int128.self), ObjectIdentifier(UInt128.self),
  ]

  /// Returns the value of a content without parts; `nil` for any other.
  static func value<Content: Encodable>(
    of content: Content, at path: @autoclosure () -> [any CodingKey]
  ) throws -> Value? {
    // Types are compared before a cast, which costs many times as much.
    if Content.self == Value.self { return content as? Value }
    if Content.self == String.self { return (content as? String).map(Value.string) }
    if Content.self == Bool.self { return (content as? Bool).map(Value.bool) }
    if Content.self == Double.self {
      return try (content as? Double).map { try finiteValue($0, at: path()) }
    }
    if Content.self == Float.self {
      return try (content as? Float).map { number in
        try finiteValue(Double(number), digits: number.description, at: path())
      }
    }
    guard integerTypes.contains(ObjectIdentifier(Content.self)),
      let integer = content as? any FixedWidthInteger
    else { return nil }
    return value(of: integer)
  }

  private static func value(of integer: some FixedWidthInteger) -> Value {
    if let small = Int64(exactly: integer) { return .integer(small) }
    return .number(Number(validated: integer.description))
  }

  private static func finiteValue(
    _ number: Double, digits: String? = nil, at path: @autoclosure () -> [any CodingKey]
  ) throws -> Value {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number, .init(codingPath: path(), debugDescription: "JSON has no \(number)"))
    }
    return .number(Number(validated: digits ?? number.description))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.beginObject()
    return KeyedEncodingContainer(ValueObjectWriter(slot: slot, path: path))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginArray()
    return ValueArrayWriter(slot: slot, path: path)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { slot.set(.null) }

  func encode<Content: Encodable>(_ value: Content) throws { try write(value) }
}

private struct ValueObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: ValueSlot
  let path: ValuePath?
  var codingPath: [any CodingKey] { path?.keys ?? [] }

  func encodeNil(forKey key: Key) { slot.addMember(key.stringValue, .null) }

  // The types of most members, for which no type has to be found out.

  func encode(_ value: Bool, forKey key: Key) { slot.addMember(key.stringValue, .bool(value)) }

  func encode(_ value: String, forKey key: Key) { slot.addMember(key.stringValue, .string(value)) }

  func encode(_ value: Int, forKey key: Key) {
    slot.addMember(key.stringValue, .integer(Int64(value)))
  }

  func encode(_ value: Int64, forKey key: Key) {
    slot.addMember(key.stringValue, .integer(value))
  }

  func encode<Content: Encodable>(_ value: Content, forKey key: Key) throws {
    if let leaf = try ValueWriter.value(of: value, at: codingPath + [key]) {
      slot.addMember(key.stringValue, leaf)
    } else {
      try value.encode(to: writer(key))
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    writer(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { writer(ValueKey(stringValue: "super")) }

  func superEncoder(forKey key: Key) -> any Encoder { writer(key) }

  private func writer(_ key: any CodingKey) -> ValueWriter {
    ValueWriter(slot.addMember(key.stringValue), ValuePath(key, in: path))
  }
}

private struct ValueArrayWriter: UnkeyedEncodingContainer {
  let slot: ValueSlot
  let path: ValuePath?
  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var count: Int { slot.count }

  func encodeNil() { slot.addElement(.null) }

  func encode(_ value: String) { slot.addElement(.string(value)) }

  func encode<Content: Encodable>(_ value: Content) throws {
    let index = ValueKey(intValue: count)
    if let leaf = try ValueWriter.value(of: value, at: codingPath + [index]) {
      slot.addElement(leaf)
    } else {
      try value.encode(to: writer())
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    writer().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { writer().unkeyedContainer() }

  func superEncoder() -> any Encoder { writer() }

  private func writer() -> ValueWriter {
    let path = ValuePath(ValueKey(intValue: count), in: path)
    return ValueWriter(slot.addElement(), path)
  }
}

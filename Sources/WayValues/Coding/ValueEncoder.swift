/// Encodes `Encodable` types as values. Members keep the order in which a type encodes them.
public struct ValueEncoder: Sendable {
  /// Creates an encoder.
  public init() {}

  /// Encodes a value. Throws `EncodingError` for numbers that JSON cannot write (NaN, the
  /// infinities), and the errors of the type.
  public func encode(_ value: some Encodable) throws -> Value {
    let slot = ValueSlot()
    try ValueWriter(slot, []).write(value)
    return slot.value
  }
}

/// The storage for one value, which is written as a whole or in parts.
final class ValueSlot {
  private enum SlotContent {
    case value(Value)
    case object([(name: String, slot: ValueSlot)])
    case array([ValueSlot])
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

  func addMember(_ name: String) -> ValueSlot {
    let slot = ValueSlot()
    guard case .object(var members) = content else { return slot }
    content = .array([])
    members.append((name, slot))
    content = .object(members)
    return slot
  }

  func addElement() -> ValueSlot {
    let slot = ValueSlot()
    guard case .array(var elements) = content else { return slot }
    content = .object([])
    elements.append(slot)
    content = .array(elements)
    return slot
  }

  var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

  var value: Value {
    switch content {
    case .value(let value): value
    case .object(let members): .object(ValueObject(members.map { ($0.name, $0.slot.value) }))
    case .array(let elements): .array(elements.map(\.value))
    }
  }
}

/// Writes one value.
struct ValueWriter: Encoder, SingleValueEncodingContainer {
  let slot: ValueSlot
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ slot: ValueSlot, _ path: [any CodingKey]) {
    self.slot = slot
    codingPath = path
  }

  func write<Content: Encodable>(_ content: Content) throws {
    switch content {
    case let value as Value: slot.set(value)
    case let text as String: slot.set(.string(text))
    case let bool as Bool: slot.set(.bool(bool))
    case let number as Double: try write(number)
    case let number as Float: try write(Double(number), digits: number.description)
    case let integer as any FixedWidthInteger: slot.set(Self.value(of: integer))
    default: try content.encode(to: self)
    }
  }

  private static func value(of integer: some FixedWidthInteger) -> Value {
    if let small = Int64(exactly: integer) { return .integer(small) }
    return .number(Number(validated: integer.description))
  }

  private func write(_ number: Double, digits: String? = nil) throws {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number, .init(codingPath: codingPath, debugDescription: "JSON has no \(number)"))
    }
    slot.set(.number(Number(validated: digits ?? number.description)))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.beginObject()
    return KeyedEncodingContainer(ValueObjectWriter(slot: slot, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginArray()
    return ValueArrayWriter(slot: slot, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { slot.set(.null) }

  func encode<Content: Encodable>(_ value: Content) throws { try write(value) }
}

private struct ValueObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: ValueSlot
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { slot.addMember(key.stringValue).set(.null) }

  func encode<Content: Encodable>(_ value: Content, forKey key: Key) throws {
    try writer(key).write(value)
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
    ValueWriter(slot.addMember(key.stringValue), codingPath + [key])
  }
}

private struct ValueArrayWriter: UnkeyedEncodingContainer {
  let slot: ValueSlot
  let codingPath: [any CodingKey]
  var count: Int { slot.count }

  func encodeNil() { slot.addElement().set(.null) }

  func encode<Content: Encodable>(_ value: Content) throws { try writer().write(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    writer().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { writer().unkeyedContainer() }

  func superEncoder() -> any Encoder { writer() }

  private func writer() -> ValueWriter {
    let path = codingPath + [ValueKey(intValue: count)]
    return ValueWriter(slot.addElement(), path)
  }
}

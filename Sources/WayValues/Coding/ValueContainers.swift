/// Reads the members of an object.
struct ValueObjectReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: ValueObject
  let reader: ValueReader
  var codingPath: [any CodingKey] { reader.codingPath }
  var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    try member(key).read(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try member(ValueKey(stringValue: "super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func member(_ key: any CodingKey) throws -> ValueReader {
    guard let value = object[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "is missing"))
    }
    return reader.nested(key, value)
  }
}

/// Reads the elements of an array one after the other.
struct ValueArrayReader: UnkeyedDecodingContainer {
  let array: [Value]
  let reader: ValueReader
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { reader.codingPath }
  var count: Int? { array.count }
  var isAtEnd: Bool { currentIndex >= array.count }

  init(array: [Value], reader: ValueReader) {
    self.array = array
    self.reader = reader
  }

  mutating func decodeNil() throws -> Bool {
    guard try element().decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    let result = try element().read(type)
    currentIndex += 1
    return result
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try element().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try element().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let element = try element()
    currentIndex += 1
    return element
  }

  private func element() throws -> ValueReader {
    let key = ValueKey(intValue: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Value.self,
        .init(codingPath: codingPath + [key], debugDescription: "the array ends before it"))
    }
    return reader.nested(key, array[currentIndex])
  }
}

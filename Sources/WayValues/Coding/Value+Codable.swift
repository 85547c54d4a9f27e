/// ``ValueDecoder`` and ``ValueEncoder`` keep a value as it is. Other coders lose the digits of
/// numbers and, some of them, the order of members.
extension Value: Codable {
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueReader {
      self = decoder.value
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let double = try? container.decode(Double.self) {
      self = Value(double)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let list = try? container.decode([Value].self) {
      self = .array(list)
    } else {
      let container = try decoder.container(keyedBy: ValueKey.self)
      self = .object(
        ValueObject(
          try container.allKeys.map {
            ($0.stringValue, try container.decode(Value.self, forKey: $0))
          }))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueWriter {
      encoder.slot.set(self)
      return
    }
    switch self {
    case .object(let object):
      var container = encoder.container(keyedBy: ValueKey.self)
      for member in object.members {
        try container.encode(member.value, forKey: ValueKey(stringValue: member.name))
      }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .number(let value): try container.encode(value.double)
      case .string(let value): try container.encode(value)
      case .array, .object: break
      }
    }
  }
}

extension ValueObject: Codable {
  public init(from decoder: any Decoder) throws {
    guard let object = try Value(from: decoder).object else {
      throw DecodingError.typeMismatch(
        ValueObject.self,
        .init(codingPath: decoder.codingPath, debugDescription: "has to be an object"))
    }
    self = object
  }

  public func encode(to encoder: any Encoder) throws { try Value.object(self).encode(to: encoder) }
}

/// The name of any member, or the index of any element of an array.
struct ValueKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}

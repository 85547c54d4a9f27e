import WayValues

/// The id of a request (JSON-RPC 2.0 §4), with its type and its digits: `1`, `1.0` and `"1"` are
/// three ids.
package enum RequestID: Sendable {
  /// The id null, which is still a request, unlike a missing id.
  case null
  case integer(Int64)
  /// The digits of a number that is no 64-bit integer.
  case number(String)
  case string(String)

  /// Creates an id; `nil` for values that are none: booleans, arrays, objects.
  package init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .number(let number): self = .number(number.digits)
    case .string(let text): self = .string(text)
    case .bool, .array, .object: return nil
    }
  }

  /// The maximum number of bytes of an id's text.
  package static let maxSize = 256

  /// The number of bytes of its text; 0 if it has none.
  package var size: Int {
    switch self {
    case .null, .integer: 0
    case .number(let text), .string(let text): text.utf8.count
    }
  }

  /// The id as its own side compares it: by value, since peers whose numbers are all floating write
  /// `2.0` for 2.
  package var comparedByValue: RequestID {
    guard case .number(let digits) = self,
      let integer = Number(validated: digits).exactly(Int64.self)
    else { return self }
    return .integer(integer)
  }

  /// The id in a message, for messages that contain another message's id.
  package var value: Value {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .number(let digits): .number(Number(validated: digits))
    case .string(let text): .string(text)
    }
  }
}

extension RequestID: Hashable {
  package static func == (left: RequestID, right: RequestID) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a.isSameUTF8(as: b)
    case (.string(let a), .string(let b)): a.isSameUTF8(as: b)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .integer(let integer): hasher.combine(integer)
    case .number(let text), .string(let text): text.hashUTF8(into: &hasher)
    }
  }
}

extension RequestID: CustomStringConvertible {
  package var description: String {
    switch self {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .number(let digits): digits
    case .string(let text): "\"\(text)\""
    }
  }
}

extension RequestID: Codable {
  package init(from decoder: any Decoder) throws {
    guard let id = RequestID(try Value(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "has to be a request id"))
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

import WayValues

/// The id of a request (JSON-RPC 2.0 §4), with its type and its digits: `1`, `1.0` and `"1"` are
/// three ids.
package enum RequestID: Sendable {
  /// A request all the same, other than one without an id.
  case null
  case integer(Int64)
  /// The digits of a number that is no 64-bit integer.
  case number(String)
  case string(String)

  /// nil for values that are no id: true and false, arrays, objects.
  package init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .number(let number): self = .number(number.digits)
    case .string(let text): self = .string(text)
    case .bool, .list, .object: return nil
    }
  }

  /// Bytes of an id's text.
  package static let maxSize = 256

  /// Bytes of its text; 0 for one that has none.
  package var size: Int {
    switch self {
    case .null, .integer: 0
    case .number(let text), .string(let text): text.utf8.count
    }
  }

  /// The id as it goes over the wire, for messages that name another's id.
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

import WayValues

/// What a page gives to its opener when it ends.
public struct PageResult: Sendable, Hashable {
  /// Anything that JSON can carry.
  public var data: Value
  /// 0, or a code of the page's own.
  public var code: Int
  /// Text for people; may be empty.
  public var message: String

  /// The result with code 0 and no message, where nothing else is given.
  public init(_ data: Value = .null, code: Int = 0, message: String = "") {
    self.data = data
    self.code = code
    self.message = message
  }

  /// As it goes over the wire.
  package var value: Value {
    ["data": data, "code": .integer(Int64(code)), "message": .string(message)]
  }

  /// About how many bytes of memory it takes.
  package var size: Int { data.size + message.utf8.count }

  /// What the opener is told.
  package var outcome: Outcome { .finished(code: code, message: message, data: data) }

  /// Reads what ``value`` gives, with what is missing or null as in ``init(_:code:message:)``;
  /// `path` names it in errors. Fails with -32602.
  package init(_ value: Value, path: String) throws(CallError) {
    guard let members = value.object else { throw .unfit(path, "an object", value) }
    self.init(members["data"] ?? .null)
    switch members["code"] {
    case nil, .null: break
    case .integer(let integer)?:
      guard let exact = Int(exactly: integer) else { fallthrough }
      code = exact
    default: throw .invalidParams("\(path).code must be an integer")
    }
    switch members["message"] {
    case nil, .null: break
    case .string(let text): message = text
    default: throw .invalidParams("\(path).message must be a string")
    }
  }
}

import WayValues

/// The result that a page returns to its opener when it closes.
public struct PageResult: Sendable, Hashable {
  /// Any JSON value.
  public var data: Value
  /// 0, or a code of the page.
  public var code: Int
  /// A message for people; may be empty.
  public var message: String

  /// Creates a result; by default with code 0 and no message.
  public init(_ data: Value = .null, code: Int = 0, message: String = "") {
    self.data = data
    self.code = code
    self.message = message
  }

  /// The result in a message.
  package var value: Value {
    ["data": data, "code": .integer(Int64(code)), "message": .string(message)]
  }

  /// The approximate size in bytes of memory.
  package var size: Int { data.size + message.utf8.count }

  /// The outcome that the opener receives.
  package var outcome: Outcome { .finished(code: code, message: message, data: data) }

  /// Reads the format of ``value``. Members that are missing or null have the defaults of
  /// ``init(_:code:message:)``. `path` is the path of the value in errors. Fails with -32602.
  package init(_ value: Value, path: String) throws(CallError) {
    guard let members = value.object else { throw .typeMismatch(path, "an object", value) }
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

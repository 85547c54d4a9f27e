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

  /// What the opener is told.
  package var outcome: Outcome { .finished(code: code, message: message, data: data) }
}

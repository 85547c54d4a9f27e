import WayValues

/// The outcome of a page. Each opened page ends with exactly one outcome; closing without a result
/// is an outcome too, not an error.
public struct Outcome: Sendable, Hashable {
  /// The reason why the page has closed.
  public enum OutcomeKind: String, Sendable, CaseIterable {
    /// The page returned a result.
    case finished
    /// The page closed without a result: back, `popTo`, or a page beneath it finished.
    case dismissed
    /// Another page replaced it: `replace`, `root`, `exts.pop`.
    case replaced
    /// Its host has disconnected for good.
    case failed
    /// Its opener cancelled after the page was shown, or the session ended.
    case cancelled
  }

  /// The reason why the page has closed.
  public var kind: OutcomeKind
  /// 0, or a code of the page (`finished`) or of the protocol's registry (the others).
  public var code: Int
  /// A message for people; may be empty.
  public var message: String
  /// The data of the result; `null` for none.
  public var data: Value

  /// Creates an outcome as it is sent to the opener.
  public init(kind: OutcomeKind, code: Int = 0, message: String = "", data: Value = .null) {
    self.kind = kind
    self.code = code
    self.message = message
    self.data = data
  }

  /// The page returned a result.
  public static func finished(code: Int = 0, message: String = "", data: Value = .null) -> Outcome {
    Outcome(kind: .finished, code: code, message: message, data: data)
  }

  /// The page closed without a result.
  public static let dismissed = Outcome(kind: .dismissed)

  /// Another page replaced it.
  public static let replaced = Outcome(kind: .replaced)

  /// The page's host has disconnected; `code` is that of the error which caused it.
  public static func failed(code: Int, message: String) -> Outcome {
    Outcome(kind: .failed, code: code, message: message)
  }

  /// The opener cancelled, or the session ended.
  public static func cancelled(code: Int = 0, message: String = "") -> Outcome {
    Outcome(kind: .cancelled, code: code, message: message)
  }

  /// Reads the format of ``value``; `nil` for anything else.
  package init?(_ value: Value) {
    guard let kind = value["outcome"]?.string.flatMap(OutcomeKind.init(rawValue:)),
      let code = value["code"]?.integer.flatMap({ Int(exactly: $0) })
    else { return nil }
    self.init(
      kind: kind, code: code, message: value["message"]?.string ?? "",
      data: value["data"] ?? .null)
  }

  /// `{"outcome", "code", "message", "data"}`, in this order.
  public var value: Value {
    var object = ValueObject()
    object.reserveCapacity(4)
    object["outcome"] = .string(kind.rawValue)
    object["code"] = .integer(Int64(code))
    object["message"] = .string(message)
    object["data"] = data
    return .object(object)
  }
}

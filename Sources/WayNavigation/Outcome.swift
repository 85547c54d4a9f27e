import WayValues

/// How a page ended. Each opened page ends with exactly one outcome; leaving without a result is an
/// outcome too, not an error.
public struct Outcome: Sendable, Hashable {
  /// Why the page is gone.
  public enum Kind: String, Sendable, CaseIterable {
    /// The page gave a result.
    case finished
    /// Left without a result: back, popped over, or a page beneath it finished.
    case dismissed
    /// Another page took its place: `replace`, `root`, `exts.pop`.
    case replaced
    /// Its host went away for good.
    case failed
    /// Its opener cancelled after the page was shown, or the session ended.
    case cancelled
  }

  /// Why the page is gone.
  public var kind: Kind
  /// 0, or a code of the page's own (`finished`) or of the protocol's registry (the others).
  public var code: Int
  /// Text for people; may be empty.
  public var message: String
  /// What the page gave; `null` where it gave nothing.
  public var data: Value

  /// An outcome as it is sent to the opener.
  public init(kind: Kind, code: Int = 0, message: String = "", data: Value = .null) {
    self.kind = kind
    self.code = code
    self.message = message
    self.data = data
  }

  /// The page gave a result.
  public static func finished(code: Int = 0, message: String = "", data: Value = .null) -> Outcome {
    Outcome(kind: .finished, code: code, message: message, data: data)
  }

  /// The page was left without a result.
  public static let dismissed = Outcome(kind: .dismissed)

  /// Another page took its place.
  public static let replaced = Outcome(kind: .replaced)

  /// The page's host is gone; `code` tells the caller which error stands behind it.
  public static func failed(code: Int, message: String) -> Outcome {
    Outcome(kind: .failed, code: code, message: message)
  }

  /// The opener cancelled, or the session ended.
  public static func cancelled(code: Int = 0, message: String = "") -> Outcome {
    Outcome(kind: .cancelled, code: code, message: message)
  }

  /// Reads what ``value`` gives; nil for anything else.
  package init?(_ value: Value) {
    guard let kind = value["outcome"]?.string.flatMap(Kind.init(rawValue:)),
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

/// The error of a call that returns no value: the error object of JSON-RPC 2.0 (§5.1).
///
/// Tasks, hosts and interceptors throw it, callers catch it, and messages carry it; it is the same
/// type everywhere.
public struct CallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A code of the protocol (``protocolCode``), of the application (1…1999 and from 3000), or any
  /// other that a peer sent.
  public let code: Int
  /// A message for people.
  public let message: String
  /// Data for programs; `nil` for none. In Waybridge's own errors it is an object that begins with
  /// `kind` and `retryable`.
  public let data: Value?
  /// Whether Swift code received the error from a call of its own, so that a task which rethrows it
  /// passes it on. It is no part of the error itself: two that differ in this are equal.
  package private(set) var isFromNestedCall = false

  /// Creates an error of a message, also for a task, a host or an interceptor to throw. The
  /// application's codes reach the caller unchanged.
  public init(code: Int, message: String, data: Value? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// Creates an error of Waybridge's own: `data` becomes `{kind, retryable, …}`. If `message` or
  /// `kind` is `nil`, it is that of the code.
  package init(
    _ code: ErrorCode, _ message: String? = nil, kind: String? = nil,
    data: ValueObject = ValueObject()
  ) {
    var members = ValueObject()
    members.reserveCapacity(2 + data.count)
    members["kind"] = .string(kind ?? code.kind)
    members["retryable"] = .bool(code.isRetryable)
    members.merge(data)
    self.init(code: code.rawValue, message: message ?? code.message, data: .object(members))
  }

  /// The error marked as that of a call of Swift code.
  package var markedFromNestedCall: CallError {
    var error = self
    error.isFromNestedCall = true
    return error
  }

  public static func == (one: CallError, other: CallError) -> Bool {
    one.code == other.code && one.message == other.message && one.data == other.data
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(data)
  }

  /// The code, if it is one of the protocol's registry (`protocol/codes.json`).
  public var protocolCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// The error in one word, that of `data.kind` (`notOnStack` is a 2404); else the kind of the
  /// code, `application` or `unknown`.
  public var kind: String {
    data?["kind"]?.string ?? protocolCode?.kind
      ?? (ErrorCode.isApplication(code) ? "application" : "unknown")
  }

  /// Whether the same call may succeed later and has not had its effect.
  public var isRetryable: Bool {
    data?["retryable"]?.bool ?? protocolCode?.isRetryable ?? false
  }

  public var description: String { "error \(code): \(message)" }
}

extension CallError {
  /// Returns an error for invalid params of a method, or of a call of Swift code (-32602).
  package static func invalidParams(_ message: String) -> CallError {
    CallError(.invalidParams, message)
  }

  /// Returns an error for a value of the wrong type (-32602); `path` is the value's path.
  package static func typeMismatch(_ path: String, _ expected: String, _ value: Value) -> CallError
  {
    .invalidParams("\(path) must be \(expected), not \(value.kindName)")
  }
}

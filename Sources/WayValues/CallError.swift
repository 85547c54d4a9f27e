/// What a call ends with in the place of a value: the error object of JSON-RPC 2.0 (§5.1).
///
/// Tasks, hosts and interceptors throw it, callers catch it, and the wire carries it; it is the
/// same type everywhere.
public struct CallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The protocol's own (``protocolCode``), the application's (1…1999 and from 3000), or whatever
  /// else a peer sent.
  public let code: Int
  /// Text for people.
  public let message: String
  /// What the error says to programs; nil where it says nothing. Waybridge's own errors have an
  /// object here that begins with `kind` and `retryable`.
  public let data: Value?
  /// Whether Swift code was given it as the end of a call of its own, so that a task which throws it
  /// passes it on. Says nothing of the error itself: two that differ in this are equal.
  package private(set) var isOfCall = false

  /// An error as it goes over the wire; also to throw from a task, a host or an interceptor, where
  /// the application's codes reach the caller as they are.
  public init(code: Int, message: String, data: Value? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// An error of Waybridge's own: `data` becomes `{kind, retryable, …}`; `message` and `kind` are
  /// the code's where they are nil.
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

  /// The same as the end of a call of Swift code.
  package var ofCall: CallError {
    var error = self
    error.isOfCall = true
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

  /// The code, where it is one of the protocol's registry (`protocol/codes.json`).
  public var protocolCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// The error in one word, as `data.kind` has it (`notOnStack` is a 2404); else the kind of the
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
  /// The params of a method, or of a call of Swift code, are wrong (-32602).
  package static func invalidParams(_ message: String) -> CallError {
    CallError(.invalidParams, message)
  }

  /// A value is not what it has to be (-32602); `path` names it.
  package static func unfit(_ path: String, _ expected: String, _ value: Value) -> CallError {
    .invalidParams("\(path) must be \(expected), not \(value.kindName)")
  }
}

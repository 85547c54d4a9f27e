import WayRPC

/// Why a call failed: what the other side answered, or what kept it from answering.
///
/// Each call that throws does so with this type and at most once; its effect is then as ``protocolCode`` and
/// ``isRetryable`` tell.
public struct CallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A JSON-RPC or Waybridge code, or the application's own: 1…1999 and from 3000.
  public let code: Int
  /// Text for people.
  public let message: String
  /// What the error says to programs, nil where it says nothing; Waybridge's own are objects with `kind` and `retryable`.
  public let data: Value?

  /// An error as the other side would answer it; also to throw from a host, where the application's codes reach
  /// the caller as they are.
  public init(code: Int, message: String, data: Value? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// The code, where it is one of the protocol's registry (`protocol/codes.json`).
  public var protocolCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// The error in one word, as `data.kind` has it (`notOnStack` is a 2404); else the kind of the code, `application`
  /// or `unknown`.
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
  init(_ error: RPCError) {
    self.init(code: error.code, message: error.message, data: error.data)
  }

  /// The server's answer to a method has not the protocol's shape.
  static func malformed(_ method: String, _ answer: Value) -> CallError {
    CallError(
      RPCError(
        .internal, "The server's answer to \(method) has not the shape that the protocol gives it",
        kind: "malformed", data: ["answer": answer]))
  }

  static func invalidParams(_ message: String) -> CallError {
    CallError(RPCError(.invalidParams, message))
  }
}

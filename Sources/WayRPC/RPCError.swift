import WayValues

/// The error of a response (JSON-RPC 2.0 §5.1).
package struct RPCError: Error, Hashable {
  /// An ``ErrorCode``, a code of the application, or whatever a peer sent.
  package var code: Int
  package var message: String
  /// nil leaves the member out; Waybridge's own errors have an object here that begins with `kind` and `retryable`.
  package var data: Value?

  /// An error as a peer or the application gave it.
  package init(code: Int, message: String, data: Value? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// An error of Waybridge's own: `data` becomes `{kind, retryable, …}`. `message` is the code's when nil, `kind` likewise.
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

  /// The code, when it is one of the protocol's.
  package var errorCode: ErrorCode? { ErrorCode(rawValue: code) }
}

extension RPCError: CustomStringConvertible {
  package var description: String { "\(message) (\(code))" }
}

import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

// Errors of the router as they are sent over the wire.
extension CallError {
  init(_ error: StackError) {
    let code: ErrorCode =
      switch error {
      case .notOnStack, .nothingBefore: .noRoute
      case .nothingCloses, .nothingStays, .pageExists, .emptyTab: .conflict
      case .invalidCount, .invalidExts, .notByTab: .invalidParams
      case .stackFull: .tooMany
      }
    self.init(code, "\(error)", kind: error.kind)
  }

  init(_ error: RouterResolutionError) {
    switch error {
    case .noRoute(_, let missing):
      self.init(.noRoute, "\(error)", kind: missing.rawValue)
    case .wrongKind: self.init(.wrongKind, "\(error)")
    case .invalidURI(let reason): self = .invalidParams("params.uri: \(reason)")
    case .redirectLoop(let chain):
      self.init(
        .redirectLoop, "\(error)", data: ["chain": .array(chain.map(Value.string))])
    case .notOverTheWire: self.init(.wrongKind, "\(error)", kind: "notOverTheWire")
    case .invalidParameters(let faults):
      self.init(.invalidParameters, "\(error)", data: ["errors": faults.errorsValue])
    }
  }

  /// Converts an exhausted byte budget; `bytes` is the size of the rejected value.
  init(_ exhausted: ByteBudget.Exhausted, for bytes: Int) {
    let limit = exhausted.limit
    let (code, description): (ErrorCode, String) =
      switch exhausted.level {
      case .stack:
        (.tooLarge, "The pages of a session may use \(limit) bytes for URIs, params and exts")
      case .client:
        (.tooMany, "A client may use \(limit) bytes for calls, patterns, deep links and its queue")
      case .session: (.tooMany, "A session may use \(limit) bytes for its clients and pages")
      case .server: (.tooMany, "The server may use \(limit) bytes for its clients")
      }
    self.init(
      code, "\(description); \(exhausted.used) are in use, and this needs \(bytes)",
      data: ["limit": .integer(Int64(limit))])
  }

  /// The error of a call that the server cancelled. The call may have taken effect by then, so that
  /// a retry is not safe.
  static func cancelledByServer(_ message: String) -> CallError {
    CallError(.cancelledByServer, message, data: ["retryable": false])
  }

  /// The error of a call that the server does not start any more.
  static let shuttingDown = CallError(.unavailable, "The server is shutting down", kind: "draining")

  /// The error of a call or session that the server does not start because it is about to end.
  static let draining = CallError(
    .unavailable, "The server is shutting down; try again when it has restarted",
    kind: "draining")

  /// The error object of a response, `{code, message, data?}`.
  var value: Value {
    var fields: ValueObject = ["code": .integer(Int64(code)), "message": .string(message)]
    fields["data"] = data
    return .object(fields)
  }

  /// The error of a URI that nothing serves. `pattern` is one that the URI may misspell.
  static func noRoute(_ uri: String, near pattern: String? = nil) -> CallError {
    let suggestion = pattern.map { "; did you mean \($0.quoted)?" } ?? ""
    return CallError(.noRoute, "No route matches \(uri.quoted)" + suggestion)
  }

  /// The error with which a task ends whose handler declined.
  static let declined = CallError(.noRoute, "The handler declined", kind: "declined")

  static func notOnStack(_ message: String) -> CallError {
    CallError(.noRoute, message, kind: "notOnStack")
  }

  /// Converts an error that Swift code threw, for the caller. Application codes pass through. Nil
  /// if the error is internal.
  init?(thrown error: any Error) {
    switch error {
    case let error as CallError where error.isFromNestedCall || ErrorCode.isApplication(error.code):
      self = error
    case let error as PatternParameterError: self.init(thrown: RouterResolutionError(error))
    case let error as CallError: self.init(.internal, error.message)
    case let error as RouterResolutionError:
      // Parameters that a handler could not read are the caller's fault. So are requests for values
      // that cannot be sent over the wire. All other errors are the handler's.
      switch error {
      case .invalidParameters, .notOverTheWire: self.init(error)
      default: self.init(.internal, "\(error)")
      }
    case is CancellationError: self = .cancelledByServer("The task was cancelled")
    default: return nil
    }
  }
}

extension String {
  /// The string in quotes, shortened for use in a message.
  var quoted: String {
    // Scalars are counted because one character may be as long as its sender likes.
    let shown = unicodeScalars.prefix(200)
    return "\"\(String(shown))\(shown.endIndex == endIndex ? "" : "…")\""
  }
}

extension [PatternParameterFault] {
  /// The faults in the data of an error.
  var errorsValue: Value { RecordCoder.value(of: self) }
}

import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

// What the router's errors are on the wire.
extension CallError {
  init(_ error: StackError) {
    let code: ErrorCode =
      switch error {
      case .notOnStack, .nothingBefore: .noRoute
      case .nothingCloses, .pageExists, .emptyTab: .conflict
      case .invalidCount, .invalidExts, .notByTab: .invalidParams
      case .stackFull: .tooMany
      }
    self.init(code, "\(error)", kind: error.kind)
  }

  init(_ error: ResolutionError) {
    switch error {
    case .noRoute(_, let missing):
      self.init(.noRoute, "\(error)", kind: missing.rawValue)
    case .wrongKind: self.init(.wrongKind, "\(error)")
    case .invalidURI(let reason): self = .invalidParams("params.uri: \(reason)")
    case .redirectLoop(let chain):
      self.init(
        .redirectLoop, "\(error)", data: ["chain": .list(chain.map(Value.string))])
    case .notOverTheWire: self.init(.wrongKind, "\(error)", kind: "notOverTheWire")
    case .invalidParameters(let faults):
      let errors = faults.map { fault -> Value in
        ["path": .string(fault.path), "message": .string(fault.message)]
      }
      self.init(.invalidParameters, "\(error)", data: ["errors": .list(errors)])
    }
  }

  /// What is to be kept for a peer is too much.
  init(_ exhausted: ByteBudget.Exhausted, for bytes: Int) {
    let limit = exhausted.limit
    let (code, what): (ErrorCode, String) =
      switch exhausted.level {
      case .stack:
        (.tooLarge, "The pages of a session hold \(limit) bytes of URIs, params and exts")
      case .client:
        (.tooMany, "A client has \(limit) bytes kept of calls, patterns, links and queue")
      case .session: (.tooMany, "A session has \(limit) bytes kept for its clients and pages")
      case .server: (.tooMany, "The server keeps \(limit) bytes for its clients")
      }
    self.init(
      code, "\(what): \(exhausted.used) are taken, and this has \(bytes)",
      data: ["limit": .integer(Int64(limit))])
  }

  /// The server gave up a call that may have had its effect by then, so that asking again is not
  /// safe.
  static func stopped(_ message: String) -> CallError {
    CallError(.cancelledByServer, message, data: ["retryable": false])
  }

  /// A call that the server does not begin any more.
  static let serverEnds = CallError(.unavailable, "The server ends", kind: "draining")

  /// A call, or a session, that the server does not begin any more, since it is about to end.
  static let draining = CallError(
    .unavailable, "The server is about to end: try again with the one that follows",
    kind: "draining")

  /// As an answer has it, `{code, message, data?}`.
  var value: Value {
    var members: ValueObject = ["code": .integer(Int64(code)), "message": .string(message)]
    members["data"] = data
    return .object(members)
  }

  static func noRoute(_ uri: String) -> CallError {
    CallError(.noRoute, "No route matches \(uri.quoted)")
  }

  /// What a task that declined is told to have ended with.
  static let declined = CallError(.noRoute, "The handler declined", kind: "declined")

  static func notOnStack(_ message: String) -> CallError {
    CallError(.noRoute, message, kind: "notOnStack")
  }

  /// What a caller is told of an error that Swift code threw: an application's own code passes
  /// through. Nil for one that is no business of callers.
  init?(thrown error: any Error) {
    switch error {
    case let error as CallError where error.isOfCall || ErrorCode.isApplication(error.code):
      self = error
    case let error as PatternParameterError: self.init(thrown: ResolutionError(error))
    case let error as CallError: self.init(.internal, error.message)
    case let error as ResolutionError:
      // Parameters that a handler could not read are its caller's fault, as is asking for what the
      // wire cannot take; all else is its own.
      switch error {
      case .invalidParameters, .notOverTheWire: self.init(error)
      default: self.init(.internal, "\(error)")
      }
    case is CancellationError: self = .stopped("The task was cancelled")
    default: return nil
    }
  }
}

extension String {
  /// In quotes and cut to a length that is fit for a message.
  var quoted: String {
    // Scalars, since one character may be as long as its sender likes.
    let shown = unicodeScalars.prefix(200)
    return "\"\(String(shown))\(shown.endIndex == endIndex ? "" : "…")\""
  }
}

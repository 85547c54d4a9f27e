import WayRPC
import WayRouting
import WayValues

// What the router's errors are on the wire.
extension RPCError {
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

  init(_ error: RoutingError) {
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

  /// The server gave up a call that may have had its effect by then, so that asking again is not safe.
  static func stopped(_ message: String) -> RPCError {
    RPCError(.cancelledByServer, message, data: ["retryable": false])
  }

  static func invalidParams(_ message: String) -> RPCError {
    RPCError(.invalidParams, message)
  }

  static func noRoute(_ uri: String) -> RPCError {
    RPCError(.noRoute, "No route matches \(uri.quoted)")
  }

  /// What a task that declined is told to have ended with.
  static let declined = RPCError(.noRoute, "The handler declined", kind: "declined")

  static func notOnStack(_ message: String) -> RPCError {
    RPCError(.noRoute, message, kind: "notOnStack")
  }

  /// The error as Swift code of the app gets it.
  var taskError: TaskError { TaskError(code: code, message: message, data: data) }

  /// What a caller is told of a lookup that failed, in which no code of the app's ran.
  static func ofLookup(_ error: any Error) -> RPCError {
    if let error = error as? RoutingError { RPCError(error) } else { .thrown(error) }
  }

  /// What a caller is told of an error that Swift code threw: an application's own code passes through.
  static func thrown(_ error: any Error) -> RPCError {
    switch error {
    case let error as RPCError: error
    case let error as TaskError where error.isApplicationCode:
      RPCError(code: error.code, message: error.message, data: error.data)
    case let error as TaskError: RPCError(.internal, error.message)
    case let error as RoutingError:
      // Parameters that a handler could not read are its caller's fault, as is asking for what the wire cannot take; all
      // else is its own.
      switch error {
      case .invalidParameters, .notOverTheWire: RPCError(error)
      default: RPCError(.internal, "\(error)")
      }
    case is CancellationError: .stopped("The task was cancelled")
    default: RPCError(.internal, "The task failed: \(error)")
    }
  }
}

import WayRPC
import WayTransport
import WayValues

/// Numbers the calls of one session that did not end at once.
typealias CallNumber = Int

/// One invocation that waits for its end. It is settled exactly once; what comes later is dropped.
///
/// Belongs to its ``Session``'s isolation.
final class CallInFlight {
  let number: CallNumber
  /// The client whose call this is; nil for a call of Swift code.
  let client: ClientID?
  /// Takes the one answer.
  private var answer: ((Result<Value, RPCError>) -> Void)?
  /// Takes the values that come before the answer.
  let progress: (Value) -> Void
  /// Ends the work that the call waits for, when the call is cancelled or late. The answer has been given by then,
  /// unless the work has its own (a page that is shown answers with its outcome).
  var stop: ((StopReason) -> Void)?
  /// The caller's deadline.
  var deadline: (any ScheduledWork)?
  /// Told the page that the call waits for from then on.
  var shown: ((String) -> Void)?
  /// Told how the call ended, before its caller is.
  var ended: ((Result<Value, RPCError>) -> Void)?
  /// Set when the call waits for a page that is shown: cancelling closes the page, and its outcome is the answer.
  var page: String?

  init(
    number: CallNumber, client: ClientID?,
    answer: @escaping (Result<Value, RPCError>) -> Void,
    progress: @escaping (Value) -> Void
  ) {
    self.number = number
    self.client = client
    self.answer = answer
    self.progress = progress
  }

  /// Gives the answer; false when it was given before.
  @discardableResult
  func settle(_ result: Result<Value, RPCError>) -> Bool {
    guard let answer else { return false }
    self.answer = nil
    stop = nil
    deadline?.cancel()
    deadline = nil
    shown = nil
    ended?(result)
    ended = nil
    answer(result)
    return true
  }
}

/// Why the work of a call is ended before it has a result.
enum StopReason {
  case cancelled
  case deadline
  case callerGone

  /// What the caller is answered.
  var error: RPCError {
    switch self {
    case .cancelled: RPCError(.cancelled, "The caller cancelled the call")
    case .callerGone: .stopped("The caller has left the session")
    case .deadline: RPCError(.deadline, "The call was not done within its deadline")
    }
  }
}

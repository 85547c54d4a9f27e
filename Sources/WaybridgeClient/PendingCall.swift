import WayRPC
import WayTransport
import WayValues

/// A call of this side that is not answered yet.
final class PendingCall {
  let method: String
  /// Settles the call.
  var answer: CheckedContinuation<Result<Value, CallError>, Never>?
  /// Settles the call where the server lets its deadline pass without an answer.
  var guardian: (any ScheduledWork)?
  var isSent = false
  var isCancelled = false
  private let onProgress: (@Sendable (Value) -> Void)?

  init(_ method: String, onProgress: (@Sendable (Value) -> Void)?) {
    self.method = method
    self.onProgress = onProgress
  }

  /// Called once it is no longer among the calls that wait.
  func settle(_ result: Result<Value, CallError>) {
    guardian?.cancel()
    answer?.resume(returning: result)
    answer = nil
  }

  func progress(_ value: Value) {
    // The deadline covers the way to the page; how long the user stays there is not the caller's to
    // bound.
    if method == "router.open", value["opened"] != nil { guardian?.cancel() }
    onProgress?(value)
  }
}

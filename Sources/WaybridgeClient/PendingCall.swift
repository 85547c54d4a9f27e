import WayRPC
import WayTransport
import WayValues

/// A call of this side that is not answered yet.
final class PendingCall {
  let method: String
  /// What it is about; nil for a method without a URI.
  let uri: String?
  /// Settles the call.
  var answer: ((Result<Value, CallError>) -> Void)?
  /// Settles the call where the server lets its deadline pass without an answer.
  var guardian: (any ScheduledWork)?
  /// Whether it was ever given to a connection. One that was not may wait to be.
  private(set) var isSent = false
  /// The number of its message, once that was sent with one.
  private(set) var seq: UInt64?
  /// The message, where it may be sent to another session without being carried out twice.
  var again: [UInt8]?
  var isCancelled = false
  private let onProgress: (@Sendable (Value) -> Void)?

  init(_ method: String, _ params: Value?, onProgress: (@Sendable (Value) -> Void)? = nil) {
    self.method = method
    self.onProgress = onProgress
    uri = params?["uri"]?.string
  }

  /// Whether it has no number: it is asked anew over each connection.
  var isApart: Bool { method == "$/ping" }

  /// It was given to a connection, under a number where it has one.
  func wasSent(_ seq: UInt64?) {
    isSent = true
    self.seq = seq
  }

  /// Called once it is no longer among the calls that wait.
  func settle(_ result: Result<Value, CallError>) {
    guardian?.cancel()
    answer?(result)
    answer = nil
  }

  func progress(_ value: Value) {
    // The deadline covers the way to the page; how long the user stays there is not the caller's to
    // bound.
    if method == "router.open", value["opened"] != nil { guardian?.cancel() }
    onProgress?(value)
  }
}

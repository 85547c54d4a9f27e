import WayNavigation
import WayRPC
import WayTransport
import WayValues

/// A call of this side that waits for its response.
final class BridgeClientCall {
  let method: String
  /// The URI that the call concerns; nil for a method without a URI.
  let uri: String?
  /// Settles the call.
  var completion: ((Result<Value, CallError>) -> Void)?
  /// Settles the call if the server does not respond within the timeout.
  var timer: (any ScheduledWork)?
  /// Settles the call after its cancellation if the server cannot be reached.
  var cancellationTimer: (any ScheduledWork)?
  /// Whether the call was ever passed to a connection. A call that was not may be buffered.
  private(set) var isSent = false
  /// The number of the call's message, once it was sent with one.
  private(set) var sequenceNumber: UInt64?
  /// The message, if it may be repeated in another session without running twice.
  var repeatableMessage: [UInt8]?
  var isCancelled = false
  /// Whether the page that the call opens was shown.
  private var isShown = false
  private let onProgress: (@Sendable (Value) -> Void)?

  init(_ method: String, _ params: Value?, onProgress: (@Sendable (Value) -> Void)? = nil) {
    self.method = method
    self.onProgress = onProgress
    uri = params?["uri"]?.string
  }

  /// Whether the call has no number and is sent again over each connection.
  var isUnnumbered: Bool { method == "$/ping" }

  /// Records that the call was passed to a connection, with its number if it has one.
  func markSent(_ seq: UInt64?) {
    isSent = true
    self.sequenceNumber = seq
  }

  /// Settles the call. Called after it was removed from the pending calls.
  func settle(_ result: Result<Value, CallError>) {
    timer?.cancel()
    cancellationTimer?.cancel()
    completion?(result)
    completion = nil
  }

  /// Settles a cancelled call without the server's response, as the server will do.
  func settleCancelled() {
    guard isShown else {
      return settle(
        .failure(
          CallError(.cancelled, "\(method) was cancelled; the server could not be reached")))
    }
    settle(.success(Outcome.cancelled().value))
  }

  func receiveProgress(_ value: Value) {
    // The timeout covers opening the page; the caller cannot limit how long the user stays there.
    if method == "router.open", value["opened"] != nil {
      isShown = true
      timer?.cancel()
    }
    onProgress?(value)
  }
}

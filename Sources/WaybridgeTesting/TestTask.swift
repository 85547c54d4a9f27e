import Waybridge
import WaybridgeClient

/// A task that a ``TestHost`` runs until the test completes it. Usable from any thread.
public final class TestTask: Sendable {
  /// The call: the URI as the caller wrote it, its parameters and extensions.
  public let call: BridgeClient.TaskCall
  private let firstResult = FirstResult<Value>()

  init(_ call: BridgeClient.TaskCall) {
    self.call = call
  }

  /// Reports progress to the caller; does nothing once the task is complete.
  public func reportProgress(_ value: Value) {
    call.reportProgress(value)
  }

  /// Completes the task with a value for the caller. Only the first completion counts; if the
  /// caller has cancelled, none does.
  public func complete(_ value: Value) {
    firstResult.complete(.success(value))
  }

  /// Fails the task with an error. An error with a code of the application (1…1999, from 3000)
  /// reaches the caller unchanged, any other as 2502. Only the first completion counts.
  public func fail(_ error: CallError) {
    firstResult.complete(.failure(error))
  }

  /// Waits for the completion; throws if the caller no longer waits.
  func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await firstResult.value().get()
    } onCancel: {
      firstResult.complete(.failure(CancellationError()))
    }
  }
}

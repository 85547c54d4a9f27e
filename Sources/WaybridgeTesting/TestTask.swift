import Waybridge
import WaybridgeClient

/// A task that a ``TestHost`` was asked to run, and that runs until the test answers it. Usable
/// from any thread.
public final class TestTask: Sendable {
  /// The URI as the caller wrote it, its parameters and what is no business data.
  public let call: BridgeClient.TaskCall
  private let answered = FirstResult<Value>()

  init(_ call: BridgeClient.TaskCall) {
    self.call = call
  }

  /// Tells the caller how far the task is; once it is answered, nothing.
  public func progress(_ value: Value) {
    call.progress(value)
  }

  /// Gives the caller its value. The first answer counts; where the caller has cancelled, none
  /// does.
  public func answer(_ value: Value) {
    answered.give(.success(value))
  }

  /// Fails the call with an error: one with a code of the application's (1…1999, from 3000) reaches
  /// the caller as it is, any other as 2502. The first answer counts.
  public func fail(_ error: CallError) {
    answered.give(.failure(error))
  }

  /// The answer, awaited; fails when the caller no longer waits.
  func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await answered.value().get()
    } onCancel: {
      answered.give(.failure(CancellationError()))
    }
  }
}

import WayTransport
import Waybridge

/// The longest time that a test waits, in real time.
struct WaitTimeout: Sendable {
  let duration: Duration

  /// Returns the next matching element. Throws 2408, which describes the wait and the current
  /// state, or -32800 if the task is cancelled.
  func next<Element: Sendable>(
    of mailbox: Mailbox<Element>, _ description: String, context: () -> String = { "" },
    where matches: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) async throws(CallError) -> Element {
    if let element = await mailbox.next(within: duration, where: matches) { return element }
    guard !Task.isCancelled else {
      throw CallError(.cancelled, "The test stopped waiting for \(description)")
    }
    let state = context()
    throw CallError(
      .deadline,
      "Waited \(duration) in vain for \(description)\(state.isEmpty ? "" : ": \(state)")")
  }

  /// Returns the result of a call. If it does not settle in time, it is cancelled, and this throws
  /// 2408, which describes the wait.
  func result<Success: Sendable>(
    of description: String,
    _ call: @escaping @Sendable () async throws(CallError) -> Success
  ) async throws(CallError) -> Success {
    let settled = Mailbox<Result<Success, CallError>>()
    let callTask = Task {
      do throws(CallError) {
        settled.put(.success(try await call()))
      } catch {
        settled.put(.failure(error))
      }
    }
    let result = await withTaskCancellationHandler {
      // A separate task, since a cancelled call settles too, with an error.
      await Task { await settled.next(within: duration) }.value
    } onCancel: {
      callTask.cancel()
    }
    guard let result else {
      callTask.cancel()
      throw CallError(.deadline, "Waited \(duration) in vain for \(description)")
    }
    return try result.get()
  }
}

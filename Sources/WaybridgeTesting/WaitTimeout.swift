import WayTransport
import Waybridge

/// How long a test waits for what may never come, by the real clock.
struct Patience: Sendable {
  let time: Duration

  /// The next element that is wanted. Throws 2408, which says what was waited for and what there is
  /// instead, or -32800 when the task is cancelled.
  func next<Element: Sendable>(
    of mailbox: Mailbox<Element>, _ what: String, instead: () -> String = { "" },
    where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) async throws(CallError) -> Element {
    if let element = await mailbox.next(within: time, where: isWanted) { return element }
    guard !Task.isCancelled else {
      throw CallError(.cancelled, "The test stopped waiting for \(what)")
    }
    let instead = instead()
    throw CallError(
      .deadline, "Waited \(time) for \(what), in vain\(instead.isEmpty ? "" : ": \(instead)")")
  }

  /// The result of a call. Where it does not settle in time it is cancelled, and this throws 2408,
  /// which says for what it waits.
  func result<Success: Sendable>(
    of what: String,
    _ call: @escaping @Sendable () async throws(CallError) -> Success
  ) async throws(CallError) -> Success {
    let settled = Mailbox<Result<Success, CallError>>()
    let calling = Task {
      do throws(CallError) {
        settled.put(.success(try await call()))
      } catch {
        settled.put(.failure(error))
      }
    }
    let result = await withTaskCancellationHandler {
      // A task of its own: a call that is cancelled settles too, and says how.
      await Task { await settled.next(within: time) }.value
    } onCancel: {
      calling.cancel()
    }
    guard let result else {
      calling.cancel()
      throw CallError(.deadline, "Waited \(time) for \(what), which has not settled")
    }
    return try result.get()
  }
}

import WayNavigation
import WayRouting
import WayValues

/// A page that the app has opened and that is shown now, or a task that it has run.
public struct OpenedPage: Sendable {
  /// The page's id in its session; `nil` for a task, which has ended already.
  public let page: String?
  let outcomeTask: Task<Outcome, any Error>

  /// Waits for the page to end, and returns its outcome. The outcome of a task is `finished` with
  /// its value.
  ///
  /// Throws ``CallError`` with the protocol's code if the server abandons the opening of the page.
  /// Cancelling the awaiting task does not end the wait, because the page has its outcome in any
  /// case.
  public func outcome() async throws -> Outcome {
    try await outcomeTask.value
  }

  /// Closes the page, which then has the outcome `cancelled`. Has no effect if the page is gone.
  public func close() {
    outcomeTask.cancel()
  }
}

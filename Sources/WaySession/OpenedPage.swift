import WayNavigation
import WayRouting
import WayValues

/// A page that the app's side has opened and that is shown now, or a task that it has run.
public struct OpenedPage: Sendable {
  /// The page's id in its session; nil for a task, which has ended already.
  public let page: String?
  let opening: Task<Outcome, any Error>

  /// How the page ended, awaited if need be; of a task, `finished` with its value. Throws
  /// ``CallError`` with the protocol's code where the page's opening is given up by the server.
  /// Cancelling the awaiting task does not end the wait: the page has its outcome in any case.
  public func outcome() async throws -> Outcome {
    try await opening.value
  }

  /// Closes the page, whose outcome is `cancelled` then; nothing happens when it is gone.
  public func close() {
    opening.cancel()
  }
}

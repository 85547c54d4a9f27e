import WayRPC

/// A request of the server that this client works on. Confined to the client's loop.
final class ServerRequest: @unchecked Sendable {
  let id: RequestID
  /// The task that runs the request; nil if it cannot be cancelled, for example the closing of a
  /// page.
  var task: Task<Void, Never>?

  init(_ id: RequestID) {
    self.id = id
  }

  /// Cancels the task, because the response is no longer wanted.
  func cancel() {
    task?.cancel()
  }
}

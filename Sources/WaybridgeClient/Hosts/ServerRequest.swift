import WayRPC

/// A request of the server that this client works on. Confined to the client's loop.
final class ServerRequest: @unchecked Sendable {
  let id: RequestID
  /// What works on it; nil where nothing can cancel it, as the closing of a page.
  var task: Task<Void, Never>?

  init(_ id: RequestID) {
    self.id = id
  }

  /// Nobody waits for the answer any more.
  func cancel() {
    task?.cancel()
  }
}

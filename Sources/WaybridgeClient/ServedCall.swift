/// A request of the server that this client works on.
final class ServedCall {
  /// What works on it; nil where nothing can cancel it, as the closing of a page.
  var task: Task<Void, Never>?

  /// Nobody waits for the answer any more.
  func cancel() {
    task?.cancel()
  }
}

/// A request of the server that this client works on.
final class ServedCall {
  private let method: String
  /// What works on it.
  var task: Task<Void, Never>?

  init(_ method: String) {
    self.method = method
  }

  /// Nobody waits for the answer any more. A page is taken away all the same.
  func cancel() {
    if method != "page.close" { task?.cancel() }
  }
}

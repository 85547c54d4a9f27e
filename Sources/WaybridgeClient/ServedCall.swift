/// A request of the server that this client works on.
struct ServedCall {
  let method: String
  let task: Task<Void, Never>

  /// Nobody waits for the answer any more. A page is taken away all the same.
  func cancel() {
    if method != "page.close" { task.cancel() }
  }
}

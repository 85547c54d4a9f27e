import WaySession
import WayTransport

/// The search for the client that sends a request, by its token. Usable from any thread.
final class BlobClientLookup: Sendable {
  enum LookupResult: Sendable {
    case success(BlobClient)
    /// The response that refuses the request.
    case failure(HTTPResponse)
  }

  private struct LookupState {
    var result: LookupResult?
    var waiting: [@Sendable (LookupResult) -> Void] = []
  }

  private let state = Locked(LookupState())

  /// The result, if it is known already.
  var result: LookupResult? { state.withLock { $0.result } }

  /// Passes on the result, at once if it is known already.
  func find(_ done: @escaping @Sendable (LookupResult) -> Void) {
    let result = state.withLock { state in
      if state.result == nil { state.waiting.append(done) }
      return state.result
    }
    if let result { done(result) }
  }

  func complete(with result: LookupResult) {
    let waiting = state.withLock { state in
      state.result = result
      defer { state.waiting = [] }
      return state.waiting
    }
    for done in waiting { done(result) }
  }
}

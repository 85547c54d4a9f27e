import WayRPC
import WayValues

/// The server's requests that this client works on. Confined to the client's loop.
struct ServerRequests {
  private var requests: [Int: ServerRequest] = [:]
  private var inFlight = PendingCallTable(limit: 1024)
  private var lastNumber = 0

  /// Adds a request until its response. Throws if its id is already in flight, and at the limit.
  mutating func begin(_ request: ServerRequest) throws(CallError) {
    try inFlight.begin(request.id, lastNumber + 1)
    lastNumber += 1
    requests[lastNumber] = request
  }

  subscript(id: RequestID) -> ServerRequest? { inFlight[id].flatMap { requests[$0] } }

  /// Removes and returns a request that gets its response now; nil if it already has one.
  mutating func end(_ id: RequestID) -> ServerRequest? {
    inFlight.end(id).flatMap { requests.removeValue(forKey: $0) }
  }

  /// Removes and returns all remaining requests, oldest first.
  mutating func drain() -> [ServerRequest] {
    defer { requests = [:] }
    return inFlight.drain().compactMap { requests[$0] }
  }
}

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

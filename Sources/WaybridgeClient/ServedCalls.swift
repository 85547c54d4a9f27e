import WayRPC
import WayValues

/// The server's requests that this client works on. Confined to the client's loop.
struct ServedCalls {
  private var calls: [Int: ServerRequest] = [:]
  private var inFlight = CallsInFlight(limit: 1024)
  private var last = 0

  /// Keeps one until its answer. Fails where its id is in flight already, and at the limit.
  mutating func begin(_ call: ServerRequest) throws(CallError) {
    try inFlight.begin(call.id, last + 1)
    last += 1
    calls[last] = call
  }

  subscript(id: RequestID) -> ServerRequest? { inFlight[id].flatMap { calls[$0] } }

  /// Hands one out that gets its answer now; nil when it has it already.
  mutating func end(_ id: RequestID) -> ServerRequest? {
    inFlight.end(id).flatMap { calls.removeValue(forKey: $0) }
  }

  /// Hands out all that are left, oldest first.
  mutating func drain() -> [ServerRequest] {
    defer { calls = [:] }
    return inFlight.drain().compactMap { calls[$0] }
  }
}

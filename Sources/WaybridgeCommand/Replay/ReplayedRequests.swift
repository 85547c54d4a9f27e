import Waybridge

/// The recorded requests to clients, and their progress in the replay.
struct ReplayedRequests {
  /// The requests that were not received yet, in the order of the recording.
  private var pending: [ReplayedSession.RecordedRequest]
  /// The received requests, by their lines in the recording.
  private var received: Set<Int> = []
  /// The requests whose responses are due, by their lines.
  private var due: Set<Int> = []
  /// The current ids of requests, by the ids of client and request in the recording.
  private var requestIDs: [String: Value] = [:]

  init(_ recording: ReplayedSession) {
    pending = recording.events.compactMap {
      if case .requestReceived(let request) = $0.event { request } else { nil }
    }
  }

  /// The methods that a client must offer, for calls of a page's method or of the app.
  func methods(of client: String) -> Set<String> {
    let own = ["page.open", "page.close", "page.leave", "router.intercept", "task.run"]
    return Set(
      pending.filter { $0.client == client && !own.contains($0.method) }.compactMap {
        $0.method == "page.call" ? $0.params["method"]?.string : $0.method
      })
  }

  /// The recorded id of the next page that the server opens at a client with this URI.
  func pageID(openedBy client: String, _ uri: String) -> String? {
    let opening = pending.first {
      $0.client == client && $0.method == "page.open" && $0.subject == uri
    }
    return opening?.params["page"]?["id"]?.string
  }

  /// Finds and removes the recorded request that a client receives now. `method` is nil for a
  /// method of the client or of its page; `subject` is nil for any subject.
  mutating func dequeue(
    _ client: String, _ method: String?, _ subject: String?, _ requestID: Value
  ) -> ReplayedSession.RecordedRequest? {
    let found = pending.firstIndex { request in
      guard request.client == client else { return false }
      guard let method else { return request.method == subject || request.subject == subject }
      return request.method == method && (subject == nil || request.subject == subject)
    }
    guard let found else { return nil }
    let recorded = pending.remove(at: found)
    received.insert(recorded.line)
    requestIDs["\(client) \(recorded.id.text)"] = requestID
    return recorded
  }

  /// Removes a request that is no longer expected.
  mutating func remove(_ request: ReplayedSession.RecordedRequest) {
    pending.removeAll { $0.line == request.line }
  }

  func wasReceived(_ request: ReplayedSession.RecordedRequest) -> Bool {
    received.contains(request.line)
  }

  /// The recording has reached the response of this request.
  mutating func markDue(_ request: ReplayedSession.RecordedRequest) { due.insert(request.line) }

  func isDue(_ request: ReplayedSession.RecordedRequest) -> Bool { due.contains(request.line) }

  /// The current id of a client's request.
  func requestID(_ client: String, _ id: Value) -> Value? { requestIDs["\(client) \(id.text)"] }
}

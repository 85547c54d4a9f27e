import Waybridge

/// What clients are asked in a recording, and how far its replay has come with that.
struct ReplayedAsks {
  /// What has not been asked yet, in the order of the recording.
  private var expected: [RecordedSession.Ask]
  /// What was asked, by the lines of the recording.
  private var asked: Set<Int> = []
  /// What is due to be answered.
  private var due: Set<Int> = []
  /// The ids of requests now, by the names of clients and the ids in the recording.
  private var requests: [String: Value] = [:]

  init(_ recording: RecordedSession) {
    expected = recording.events.compactMap {
      if case .isAsked(let ask) = $0.event { ask } else { nil }
    }
  }

  /// The methods that a client is asked for, by a page's call or by the app.
  func methods(of client: String) -> Set<String> {
    let own = ["page.open", "page.close", "task.run"]
    return Set(
      expected.filter { $0.client == client && !own.contains($0.method) }.compactMap {
        $0.method == "page.call" ? $0.params["method"]?.string : $0.method
      })
  }

  /// The id in the recording of the page that a client is asked to open next under a URI.
  func page(openedBy client: String, _ uri: String) -> String? {
    let opening = expected.first {
      $0.client == client && $0.method == "page.open" && $0.subject == uri
    }
    return opening?.params["page"]?["id"]?.string
  }

  /// Finds what a client is asked now, which comes no second time. `method` is nil for a method of the
  /// client's own, or of its page; `subject` is nil where any will do.
  mutating func take(
    _ client: String, _ method: String?, _ subject: String?, _ request: Value
  ) -> RecordedSession.Ask? {
    let found = expected.firstIndex { ask in
      guard ask.client == client else { return false }
      guard let method else { return ask.method == subject || ask.subject == subject }
      return ask.method == method && (subject == nil || ask.subject == subject)
    }
    guard let found else { return nil }
    let ask = expected.remove(at: found)
    asked.insert(ask.line)
    requests["\(client) \(ask.id.text)"] = request
    return ask
  }

  /// Nobody will ask it any more.
  mutating func drop(_ ask: RecordedSession.Ask) { expected.removeAll { $0.line == ask.line } }

  func wasAsked(_ ask: RecordedSession.Ask) -> Bool { asked.contains(ask.line) }

  /// The recording has come to its answer.
  mutating func answer(_ ask: RecordedSession.Ask) { due.insert(ask.line) }

  func isDue(_ ask: RecordedSession.Ask) -> Bool { due.contains(ask.line) }

  /// The id that a client's request has now.
  func request(_ client: String, _ id: Value) -> Value? { requests["\(client) \(id.text)"] }
}

/// Selects the records that a client receives.
struct InspectorFilter: Sendable {
  /// The only session to report; nil for all.
  var session: String?
  /// The maximum number of bytes of each message to report, as JSON; nil for no messages.
  var maxMessageBytes: Int?
  /// The client's own name. Its own calls are not reported.
  let client: String

  /// Whether a record about a session and one of its clients matches.
  func matches(_ session: String, _ client: String?) -> Bool {
    if let client, client == self.client { return false }
    return self.session.map { $0 == session } ?? true
  }
}

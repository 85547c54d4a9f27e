/// What a client wants to be told of.
struct InspectorFilter: Sendable {
  /// One session alone; nil for all.
  var session: String?
  /// How many bytes of each message it wants, as JSON; nil for none.
  var messages: Int?
  /// The client's own name, whose calls are not told.
  let client: String

  /// Whether it wants what is about a session, and about a client of it.
  func wants(_ session: String, _ client: String?) -> Bool {
    if let client, client == self.client { return false }
    return self.session.map { $0 == session } ?? true
  }
}

/// What a client wants to be told of.
struct WatchWish: Sendable {
  /// One session alone; nil for all.
  var session: String?
  /// How many bytes of each message it wants, as JSON; nil for none.
  var messages: Int?
  /// The client's own name, whose calls are not told.
  let client: String

  func wants(_ record: WatchRecord) -> Bool {
    if let client = record.client, client == self.client { return false }
    return session.map { $0 == record.session } ?? true
  }
}

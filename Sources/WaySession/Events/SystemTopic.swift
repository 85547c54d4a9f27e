import WayTable

/// The topics of the server's own events.
enum SystemTopic: String, CaseIterable {
  case sessionOpened = "session.opened"
  case sessionJoined = "session.joined"
  case sessionLeft = "session.left"
  case sessionClosed = "session.closed"
  /// Told to the client that it is about, whether or not it has subscribed.
  case sessionExpiring = "session.expiring"
  /// Told to every client, whether or not it has subscribed.
  case serverDraining = "server.draining"
  case tableChanged = "table.changed"
  case pageOpened = "page.opened"
  case pageResumed = "page.resumed"
  case pageClosed = "page.closed"
  case pageFailed = "page.failed"
  case taskStarted = "task.started"
  case taskFinished = "task.finished"
  case taskFailed = "task.failed"
  case taskDeclined = "task.declined"
  case routeFailed = "route.failed"

  /// Whether a topic is the protocol's to tell, now or in a later version, and no app's.
  static func reserves(_ topic: String) -> Bool {
    TableTopicName.ownBeginnings.contains { topic.utf8.starts(with: $0.utf8) }
  }

  /// What their topics begin with, by the kind of what they tell.
  static let beginnings: [(Happening.Kinds, String)] = [
    (.session, "session."), (.page, "page."), (.task, "task."), (.route, "route."),
  ]
}

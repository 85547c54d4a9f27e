import WayTable

/// The topics of the server's own events.
enum SystemTopic: String, CaseIterable {
  case sessionOpened = "session.opened"
  case sessionJoined = "session.joined"
  case sessionDisconnected = "session.disconnected"
  case sessionReconnected = "session.reconnected"
  case sessionLeft = "session.left"
  case sessionClosed = "session.closed"
  case sessionGate = "session.gate"
  /// Sent to the client that it concerns, whether or not it has subscribed.
  case sessionExpiring = "session.expiring"
  /// Sent to every client, whether or not it has subscribed.
  case serverDraining = "server.draining"
  case tableChanged = "table.changed"
  case pageOpened = "page.opened"
  case pageResumed = "page.resumed"
  case pageVisibility = "page.visibility"
  case pageClosed = "page.closed"
  case pageFailed = "page.failed"
  case taskStarted = "task.started"
  case taskFinished = "task.finished"
  case taskFailed = "task.failed"
  case taskDeclined = "task.declined"
  case routeFailed = "route.failed"
  /// Sent to the client whose result it is about, whether or not it has subscribed.
  case routeInvalidResult = "route.invalidResult"

  /// Whether a topic is reserved for the protocol, now or in a later version.
  static func isReserved(_ topic: String) -> Bool {
    TableTopicName.reservedPrefixes.contains { topic.utf8.starts(with: $0.utf8) }
  }

  /// The prefixes of topics, by the kind of their events.
  static let prefixes: [(SessionEvent.EventKinds, String)] = [
    (.session, "session."), (.page, "page."), (.task, "task."), (.route, "route."),
    (.visibility, pageVisibility.rawValue),
  ]
}

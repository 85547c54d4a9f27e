/// The topics of the server's own events.
enum OwnTopic: String, CaseIterable {
  case sessionOpened = "session.opened"
  case sessionJoined = "session.joined"
  case sessionLeft = "session.left"
  case sessionClosed = "session.closed"
  case pageOpened = "page.opened"
  case pageResumed = "page.resumed"
  case pageClosed = "page.closed"
  case pageFailed = "page.failed"
  case taskStarted = "task.started"
  case taskFinished = "task.finished"
  case taskFailed = "task.failed"
  case routeFailed = "route.failed"

  var family: TopicFamilies {
    switch self {
    case .sessionOpened, .sessionJoined, .sessionLeft, .sessionClosed: .session
    case .pageOpened, .pageResumed, .pageClosed, .pageFailed: .page
    case .taskStarted, .taskFinished, .taskFailed: .task
    case .routeFailed: .route
    }
  }

  /// Whether a topic is the protocol's to tell, now or in a later version, and no app's.
  static func reserves(_ topic: String) -> Bool {
    let later = ["server.", "table."]
    return (TopicFamilies.beginnings.map(\.1) + later).contains { topic.utf8.starts(with: $0.utf8) }
  }
}

/// Sets of the server's own topics, so that one test tells whether anybody listens.
struct TopicFamilies: OptionSet, Sendable {
  let rawValue: UInt8

  static let session = TopicFamilies(rawValue: 1)
  static let page = TopicFamilies(rawValue: 2)
  static let task = TopicFamilies(rawValue: 4)
  static let route = TopicFamilies(rawValue: 8)

  static let beginnings: [(TopicFamilies, String)] = [
    (.session, "session."), (.page, "page."), (.task, "task."), (.route, "route."),
  ]
}

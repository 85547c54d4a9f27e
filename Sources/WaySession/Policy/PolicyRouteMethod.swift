/// The methods about a route, for which the policy checks the route, or that of each page that they
/// concern.
enum PolicyRouteMethod: Int, CaseIterable {
  case open, invoke, canOpen, explain, deliver, adopt, selectTab, pageCall
  case back, finish, stack, contains, setGuard, setResult, edit

  var name: String {
    switch self {
    case .open: "router.open"
    case .invoke: "router.invoke"
    case .canOpen: "router.canOpen"
    case .explain: "router.explain"
    case .deliver: "router.deliver"
    case .adopt: "navigation.adopt"
    case .selectTab: "navigation.selectTab"
    case .pageCall: "page.call"
    case .back: "navigation.back"
    case .finish: "navigation.finish"
    case .stack: "navigation.stack"
    case .contains: "navigation.contains"
    case .setGuard: "page.setGuard"
    case .setResult: "page.setResult"
    case .edit: "navigation.edit"
    }
  }

  /// Whether the method concerns open pages, and not the target of a URI.
  var isAboutOpenPages: Bool {
    switch self {
    case .pageCall, .back, .finish, .stack, .contains, .setGuard, .setResult, .edit: true
    case .open, .invoke, .canOpen, .explain, .deliver, .adopt, .selectTab: false
    }
  }
}

/// The methods about a topic, for which the policy checks the topic.
enum PolicyTopicMethod: String, CaseIterable {
  /// Publishes an event in the client's own session.
  case publish = "events.publish"
  /// Publishes an event in other sessions, as the method of `session.push`.
  case event
}

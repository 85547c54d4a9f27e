/// The methods about a route, for which the policy checks the route.
enum RouteMethod: Int, CaseIterable {
  case open, invoke, canOpen, explain, deliver, adopt, selectTab, pageCall

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
    }
  }
}

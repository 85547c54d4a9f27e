import Waybridge

// The cost of a change of a router with this number of routes, including the snapshot that the
// next reader gets.
extension Round {
  // Number of changes of each kind; most of the routes stay.
  private var changes: Int { 20 }

  /// Changes of routes.
  func measureRoutes(of router: Router) throws {
    let names = (0..<changes).map { index in
      let kind = PatternKind.allCases[index % PatternKind.allCases.count]
      return kind.pattern(index * perKind / changes)
    }
    try measure("a handler", router) { index in
      try router.handle(names[index], with: .page(Self.page))
    }
    try measure("adding", router) { index in try router.page("native://new\(index)/:id/*") }
    try measure("adding a list of one", router) { index in
      let pattern = try RoutePattern("native://listed\(index)/:id")
      try router.register(
        contentsOf: [Route(name: "listed\(index)", patterns: [pattern], kind: .page)])
    }
    try measure("replacing", router) { index in
      let pattern = try RoutePattern("native://changed/item\(index)/:id")
      try router.replace(
        route: names[index], with: Route(name: names[index], patterns: [pattern], kind: .page))
    }
    try measure("removing", router) { index in router.remove(route: names[index]) }
  }

  // Changes of the other parts of a snapshot.
  func measureRules(of router: Router) throws {
    try measure("a redirect", router) { index in
      try router.redirect("native://old\(index)", to: "native://shop/item\(index)")
    }
    try measure("a scheme", router) { index in
      try router.setScheme("scheme", isClosed: index.isMultiple(of: 2))
    }
    try measure("a group", router) { index in
      try router.add(routes: ["native://new\(index)/:id/*"], toGroup: "group")
    }
    try measure("an interceptor", router) { index in
      router.intercept("interceptor", on: .groups(["group"]), priority: index) { _ in .next }
    }
  }

  private static let page = PageHandler(open: { _, _ in }, close: { _, _, _ in })

  private func measure(
    _ what: String, _ router: Router, _ change: (_ index: Int) throws -> Void
  ) throws {
    var times: [Double] = []
    var snapshot = router.snapshot()
    for index in 0..<changes {
      times.append(try time(&snapshot, of: router) { try change(index) })
    }
    times.sort()
    report("changing and reading: \(what)", "µs", times[times.count / 2] / 1e3)
    report("changing and reading: \(what), worst", "µs", (times.last ?? 0) / 1e3)
  }

  // Changes and reads like a session: it keeps the previous snapshot until there is another, and
  // frees it elsewhere.
  private func time(
    _ snapshot: inout RouterSnapshot, of router: Router, _ change: () throws -> Void
  ) throws -> Double {
    let began = Process.nanoseconds()
    try change()
    let next = router.snapshot()
    let time = since(began)
    withExtendedLifetime(snapshot) {}
    snapshot = next
    return time
  }
}

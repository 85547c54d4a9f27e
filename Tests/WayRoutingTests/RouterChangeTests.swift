import Testing
import WayPatterns
import WayValues

@testable import WayRouting

@Suite struct RouterChangeTests {
  @Test(arguments: 1...16 as ClosedRange<UInt64>)
  func `a changed router equals a rebuilt one`(seed: UInt64) throws {
    var changed = RandomRouterModel(seed: seed)
    for step in 0..<240 {
      try changed.applyRandomChange()
      // Sometimes many changes occur before the next read.
      if step % 3 == 0 || seed.isMultiple(of: 2) { _ = changed.router.snapshot() }
      guard step % 12 == 11 else { continue }
      let expected = try changed.rebuildRouter().snapshot().summary(RandomRouterModel.uris)
      #expect(
        changed.router.snapshot().summary(RandomRouterModel.uris) == expected,
        "seed \(seed), \(step)")
    }
  }

  private func route(_ name: String, _ pattern: String, priority: Int = 0) throws -> Route {
    Route(
      name: name, patterns: [try RoutePattern(pattern)], kind: .page, priority: priority)
  }

  @Test func `a replaced route keeps its order among equals`() throws {
    let router = Router()
    try router.register(route("first", "/user/:id"))
    try router.register(route("second", "/User/:id"))
    #expect(try router.route("x://user/1") == "first")
    try router.replace(route: "first", with: route("first", "/other"))
    #expect(try router.route("x://user/1") == "second")
    try router.replace(route: "first", with: route("third", "/USER/:id"))
    #expect(try router.route("x://user/1") == "third")
    #expect(router.snapshot().routes.map(\.name) == ["third", "second"])
    router.remove(route: "third")
    try router.register(route("first", "/user/:id"))
    #expect(try router.route("x://user/1") == "second")
    #expect(router.snapshot().routes.map(\.name) == ["second", "first"])
  }

  @Test func `a snapshot does not change with its router`() throws {
    let router = Router()
    try router.register(route("a", "x://a/:id"))
    let first = router.snapshot()
    try router.register(route("b", "x://a/1"))
    let second = router.snapshot()
    try router.replace(route: "a", with: route("c", "x://a/:id", priority: 1))
    let third = router.snapshot()
    router.remove(route: "c")
    let found = try [first, second, third, router.snapshot()].map {
      try $0.resolve(RouteURI("x://a/1")).route?.name
    }
    #expect(found == ["a", "b", "c", "b"])
  }

  @Test func `releases handlers of replaced routes`() throws {
    final class HandlerCapture: Sendable {}
    let router = Router()
    for number in 0..<300 { try router.page("x://p\(number)") }
    var held: HandlerCapture? = HandlerCapture()
    weak let seen = held
    let pattern = try RoutePattern("action://a")
    try router.register(
      Route(
        name: "a", patterns: [pattern], kind: .task,
        handler: .task { [held] _ in
          withExtendedLifetime(held) { nil }
        }))
    held = nil
    _ = router.snapshot()
    #expect(seen != nil)
    try router.handle("a", with: .task { _ in nil })
    _ = router.snapshot()
    #expect(seen == nil)
  }

  @Test func `keeps changes made during a background rebuild`() throws {
    var state = RouterState()
    func add(_ numbers: Range<Int>) throws {
      for number in numbers {
        _ = try state.add(route("r\(number)", "x://r\(number)"), replacing: false)
        _ = state.refreshRoutes()
      }
    }
    for number in 0..<400 {
      _ = try state.add(route("r\(number)", "x://r\(number)"), replacing: false)
    }
    var before = state.refreshRoutes()
    var none = state.parts.beginRebuild()
    #expect(before != nil && none == nil)
    try add(400..<500)
    let ordered = state.parts.beginRebuild()
    let order = try #require(ordered)
    none = state.parts.beginRebuild()
    #expect(none == nil)
    var made = RoutingTable(order.table.routes)
    try add(500..<600)
    _ = try state.replace("r3", with: route("new", "x://new"))
    var result = state.adopt(&made, of: order)
    #expect(!result.isAdopted && result.changes.count == 101)
    for (place, route) in result.changes { made.put(route, at: place) }
    let registration = try #require(state.registration(of: "r4"))
    _ = state.remove(registration)
    result = state.adopt(&made, of: order)
    #expect(result.isAdopted && result.changes.isEmpty)
    _ = state.refreshRoutes()
    let names = state.parts.routes.routes.map(\.route.name)
    let expected = (0..<600).filter { $0 != 4 }.map { $0 == 3 ? "new" : "r\($0)" }
    #expect(names == expected)
    #expect(state.parts.routes.trie.changeCount < 110)

    // A table that was ordered before everything was replaced is outdated.
    try add(600..<700)
    let orderedAgain = state.parts.beginRebuild()
    let late = try #require(orderedAgain)
    var useless = RoutingTable(late.table.routes)
    try state.declare([route("declared", "x://declared")], replacing: true)
    result = state.adopt(&useless, of: late)
    #expect(!result.isAdopted && result.changes.isEmpty)
    before = state.refreshRoutes()
    #expect(before != nil)
    #expect(state.parts.routes.routes.map(\.route.name).last == "declared")
  }

  @Test func `finds each route immediately after its registration`() throws {
    let router = Router()
    var reader = CachingRouteResolver(router)
    for number in 0..<1500 {
      try router.page("x://p\(number)/:id")
      let found = try reader.resolve("x://p\(number)/1", params: [:], for: nil)
      #expect(found.route?.name == "x://p\(number)/:id")
      if number % 3 == 0 { router.remove(route: "x://p\(number / 2)/:id") }
    }
    let left = router.snapshot().routes.map(\.name)
    let removed = Set((0..<1500).filter { $0 % 3 == 0 }.map { $0 / 2 })
    #expect(left == (0..<1500).filter { !removed.contains($0) }.map { "x://p\($0)/:id" })
    for number in 0..<1500 {
      let name = "x://p\(number)/:id"
      #expect(try router.route("x://p\(number)/1") == (removed.contains(number) ? nil : name))
    }
  }
}

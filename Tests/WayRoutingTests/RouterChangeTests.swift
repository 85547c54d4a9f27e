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

  @Test func `readers do not wait for a change after one that they have read`() throws {
    let router = Router()
    try router.register(route("a", "x://a"))
    #expect(try router.route("x://a") == "a")
    try router.register(route("b", "x://b"))
    // A change holds the lock of the builder, which cannot be locked twice.
    let found = try router.change { _ in
      Result { try router.snapshot().resolve(RouteURI("x://b")).route?.name }
    }.get()
    #expect(found == "b")
  }

  @Test func `a changed handler does not build the table of routes again`() throws {
    let router = Router()
    try router.register(contentsOf: (0..<20).map { try route("r\($0)", "x://r\($0)/:id") })
    router.remove(route: "r3")
    let page = PageHandler(open: { _, _ in }, close: { _, _, _ in })
    for number in [0, 7, 19] {
      _ = router.snapshot()
      try router.handle("r\(number)", with: .page(page))
    }
    let handled = router.snapshot().routes.filter { !$0.handler.isUnassigned }.map(\.name)
    #expect(handled == ["r0", "r7", "r19"])
    for number in 0..<20 where number != 3 {
      let found = try router.snapshot().resolve(RouteURI("x://r\(number)/1")).route
      #expect(found?.name == "r\(number)")
      #expect(found?.handler.isUnassigned == ![0, 7, 19].contains(number))
    }
  }

  @Test func `a rejected list leaves names and patterns free`() throws {
    let router = Router()
    try router.register(route("old", "x://old"))
    #expect(throws: RouterConfigurationError.duplicateName("old")) {
      try router.register(contentsOf: [route("a", "x://a"), route("old", "x://b")])
    }
    #expect(router.snapshot().routes.map(\.name) == ["old"])
    try router.register(contentsOf: [route("b", "x://a"), route("a", "x://b")])
    #expect(router.snapshot().routes.map(\.name) == ["old", "b", "a"])
  }

  @Test func `an empty table replaces the routes of a table`() throws {
    let router = Router()
    var declarations = RouterDeclarations()
    declarations.routes = [try route("a", "x://a")]
    try router.declare(declarations, replacing: true)
    #expect(router.snapshot().routes.map(\.name) == ["a"])
    declarations.routes = []
    try router.declare(declarations, replacing: true)
    #expect(router.snapshot().routes.isEmpty)
  }

  @Test func `finds each route immediately after its registration`() throws {
    let router = Router()
    var reader = CachingRouteResolver(router)
    for number in 0..<150 {
      try router.page("x://p\(number)/:id")
      let found = try reader.resolve("x://p\(number)/1", params: [:], for: nil)
      #expect(found.route?.name == "x://p\(number)/:id")
      if number % 3 == 0 { router.remove(route: "x://p\(number / 2)/:id") }
    }
    let left = router.snapshot().routes.map(\.name)
    let removed = Set((0..<150).filter { $0 % 3 == 0 }.map { $0 / 2 })
    #expect(left == (0..<150).filter { !removed.contains($0) }.map { "x://p\($0)/:id" })
    for number in 0..<150 {
      let name = "x://p\(number)/:id"
      #expect(try router.route("x://p\(number)/1") == (removed.contains(number) ? nil : name))
    }
  }
}

import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

private func route(
  _ name: String, _ patterns: [String], _ kind: RouteKind = .page, priority: Int = 0,
  handler: RouteHandler = .hosted
) throws -> Route {
  Route(
    name: name, patterns: try patterns.map { try RoutePattern($0) }, kind: kind, priority: priority,
    handler: handler)
}

@Suite struct RouterTests {
  @Test func `registers, replaces and removes routes at run time`() throws {
    let router = Router()
    let first = try router.page("native://a/:id", name: "first")
    try router.page("native://:any/1", name: "second")
    #expect(try router.route("native://a/1") == "first")
    let changed = try router.replace(first, with: route("third", ["native://b/:id"]))
    #expect(try router.route("native://a/1") == "second")
    #expect(try router.route("native://b/2") == "third")
    #expect(router.snapshot().routes.map(\.name) == ["third", "second"])
    #expect(!router.remove(first))
    #expect(router.remove(changed))
    #expect(!router.remove(changed))
    #expect(try router.route("native://b/2") == nil)
    #expect(throws: RouterConfigurationError.unknownRoute("third")) {
      try router.replace(changed, with: route("x", ["native://x"]))
    }
  }

  @Test func `replaces and removes a route by its name`() throws {
    let router = Router()
    let first = try router.page("native://a/:id", name: "first")
    try router.page("native://:any/1", name: "second")
    try router.replace(route: "first", with: route("third", ["native://b/:id"]))
    #expect(router.snapshot().routes.map(\.name) == ["third", "second"])
    #expect(!router.remove(first))
    #expect(throws: RouterConfigurationError.unknownRoute("first")) {
      try router.replace(route: "first", with: route("first", ["native://c"]))
    }
    #expect(throws: RouterConfigurationError.duplicateName("second")) {
      try router.replace(route: "third", with: route("second", ["native://c"]))
    }
    #expect(router.remove(route: "third"))
    #expect(!router.remove(route: "third"))
    #expect(try router.route("native://b/2") == nil)
    #expect(try router.route("native://a/1") == "second")
  }

  @Test func `an old registration does not affect a new route`() throws {
    let router = Router()
    let old = try router.page("native://a")
    #expect(router.remove(old))
    try router.page("native://a")
    #expect(!router.remove(old))
    #expect(try router.route("native://a") == "native://a")
  }

  @Test func `replaces a route of the same name only on request`() throws {
    let router = Router()
    try router.register(route("a", ["native://a"]))
    #expect(throws: RouterConfigurationError.duplicateName("a")) {
      try router.register(route("a", ["native://b"]))
    }
    #expect(try router.route("native://a") == "a")
    try router.register(route("a", ["native://b"]), replacing: true)
    #expect(try router.route("native://a") == nil)
    #expect(try router.route("native://b") == "a")
    try router.register(route("c", ["native://a"]), replacing: true)
    #expect(throws: RouterConfigurationError.duplicateName("a")) {
      try router.replace(
        router.register(route("d", ["native://d"])), with: route("a", ["native://e"]))
    }
  }

  @Test(
    "rejects patterns of the same shape and priority",
    arguments: [
      ("native://a/:x", "native://a/:y"), ("/a", "/%61/"), ("native://A/b", "NATIVE://a/b"),
      ("/u/:x", "/u/:y"), ("native:", "native:/"), ("/a", "/a(/:x)"), ("/a(/:x)", "/a/:y"),
      ("/a(/b)(/c)", "/a(/c)"), ("/a/*", "/a(/b)/*"),
    ])
  func rejectsConflictingPatterns(first: String, second: String) throws {
    let router = Router()
    try router.page(first, name: "first")
    let rejected = RouterConfigurationError.conflict(
      RouteConflict(pattern: second, route: "second", other: "first"))
    #expect(throws: rejected) { try router.page(second, name: "second") }
    #expect(throws: Never.self) { try router.page(second, name: "second", priority: 1) }
    #expect(throws: RouterConfigurationError.self) {
      try route("own", [first, second]).registerAlone()
    }
  }

  @Test func `suggests handle for a route that is already declared`() throws {
    let router = Router()
    try router.register(route("eager", ["action://eager"], .task))
    try router.page("native://a", name: "a")
    let error = #expect(throws: RouterConfigurationError.self) {
      try router.task("action://eager") { _ in nil }
    }
    #expect(
      error?.description.hasSuffix("; if it is to serve that route, use handle(\"eager\", with: …)")
        == true)
    let other = #expect(throws: RouterConfigurationError.self) {
      try router.page("native://a", name: "b")
    }
    #expect(other?.description.hasSuffix("; change its priority or remove one") == true)
  }

  @Test(
    "accepts patterns of different shapes",
    arguments: [
      ("native://a/:x", "native://a/b"), ("/a", "/A"), ("/a/b", "native://a/b"),
      ("native:/a", "native://a"), ("native:a", "native:/a"), ("/a/b", "/a%2Fb"), ("/a", "/a//"),
      ("/a", "/a/*"), ("/a/:x", "/a/*"), ("/a/*", "/a/%2A"), ("/a/:x", "/a(/x)"),
    ])
  func acceptsDistinctPatterns(first: String, second: String) throws {
    let router = Router()
    try router.page(first)
    #expect(throws: Never.self) { try router.page(second) }
  }

  @Test func `a removed route frees its pattern and name`() throws {
    let router = Router()
    for _ in 0..<500 {
      let registration = try router.page("native://a/:x")
      let other = try router.page("native://b/:x")
      router.remove(registration)
      router.remove(other)
    }
    try router.page("native://c")
    #expect(router.snapshot().routes.map(\.name) == ["native://c"])
  }

  @Test func `registers all routes or none`() throws {
    let router = Router()
    let good = try [route("a", ["native://a"]), route("b", ["native://b", "/b"])]
    #expect(throws: RouterConfigurationError.duplicateName("a")) {
      try router.register(contentsOf: good + [route("a", ["native://c"])])
    }
    #expect(router.snapshot().routes.isEmpty)
    let registrations = try router.register(contentsOf: good)
    #expect(registrations.map(\.name) == ["a", "b"])
    #expect(try router.route("https://example.com/b") == "b")
  }

  @Test func `rejects incomplete routes and invalid patterns`() throws {
    let router = Router()
    #expect(throws: RouterConfigurationError.incomplete(route: "")) {
      try router.register(route("", ["native://a"]))
    }
    #expect(throws: RouterConfigurationError.incomplete(route: "a")) {
      try router.register(route("a", []))
    }
    let error = #expect(throws: RouterConfigurationError.self) { try router.page("native://a/*b") }
    #expect(error?.description.contains("\"native://a/*b\", byte 11") == true)
  }

  @Test func `resolving has no side effects`() throws {
    let router = Router()
    try router.task("action://a") { _ in throw CallError(code: 1, message: "ran") }
    router.setUndefinedRouteHandler { _ in throw CallError(code: 1, message: "ran") }
    let before = router.version
    #expect(try router.route("action://a") == "action://a")
    #expect(try router.route("action://b") == nil)
    #expect(router.version == before)
  }

  @Test func `a reader refreshes its snapshot only after changes`() throws {
    let router = Router()
    var reader = CachingRouteResolver(router)
    let first = reader.current()
    #expect(reader.current() === first)
    try router.page("native://a")
    #expect(first.routes.isEmpty)
    let second = reader.current()
    #expect(second.routes.count == 1)
    #expect(reader.current() === second)
    #expect(throws: RouterConfigurationError.self) { try router.page("native://a") }
    #expect(reader.current() === second)
  }

  @Test func `keeps concurrent changes of many threads`() async throws {
    let router = Router()
    try await withThrowingTaskGroup { group in
      for number in 0..<200 {
        group.addTask {
          try router.page("native://p\(number)")
          #expect(try router.route("native://p\(number)") != nil)
        }
      }
      try await group.waitForAll()
    }
    #expect(router.snapshot().routes.count == 200)
  }
}

extension Route {
  /// Registers only this route, in a new router.
  fileprivate func registerAlone() throws { try Router().register(self) }
}

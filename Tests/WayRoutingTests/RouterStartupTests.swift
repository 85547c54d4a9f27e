import Synchronization
import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite(.timeLimit(.minutes(1)))
final class RouterStartupTests: Sendable {
  private let router = Router()
  private let log = Mutex<[String]>([])

  @Test func `runs phases in order`() async throws {
    for phase in StartPhase.allCases.reversed() {
      try router.atStart(phase) { _ in self.log.withLock { $0.append(phase.rawValue) } }
    }
    try router.atStart(.pages) { router in
      await Task.yield()
      self.log.withLock { $0.append("pages 2") }
      try router.page("native://a")
    }
    async let first: Void = router.start()
    async let second: Void = router.start()
    _ = try await (first, second)
    #expect(
      self.log.withLock { $0 } == [
        "table", "interceptors", "pages", "pages 2", "tasks", "groups", "ready",
      ])
    #expect(try router.route("native://a") == "native://a")
    #expect(throws: RouterConfigurationError.alreadyStarted) { try router.atStart(.table) { _ in } }
  }

  @Test func `a failed phase stops the start and is named`() async throws {
    try router.atStart(.pages) { router in try router.page("bad") }
    try router.atStart(.tasks) { _ in Issue.record("continued") }
    for _ in 0..<2 {
      let error = await #expect(throws: StartError.self) { try await router.start() }
      #expect(error?.phase == .pages)
      #expect(error?.description.contains("\"pages\"") == true)
    }
  }

  @Test func `routes of a module exist before it loads`() async throws {
    try router.register(Route(name: "told", patterns: [RoutePattern("action://told")], kind: .task))
    try router.registerModule(
      "shop",
      routes: [Route(name: "shop", patterns: [RoutePattern("native://shop/:id")], kind: .page)],
      handling: ["told"]
    ) { _ in Issue.record("loaded") }
    #expect(router.explain("native://shop/7").canOpen)
    #expect(try router.route("native://shop/7") == "shop")
    guard case .lazy = try router.match("action://told").route.handler else {
      Issue.record("not lazy")
      return
    }
    #expect(throws: RouterConfigurationError.unknownRoute("none")) {
      try router.registerModule(
        "other", routes: [Route(name: "new", patterns: [RoutePattern("/new")], kind: .page)],
        handling: ["none"]
      ) { _ in }
    }
    #expect(try router.route("native://new") == nil)
  }

  @Test func `a module registers once under concurrent loads`() async throws {
    try router.registerModule(
      "m", routes: [Route(name: "a", patterns: [RoutePattern("/a")], kind: .task)]
    ) { _ in
      await Task.yield()
      self.log.withLock { $0.append("loaded") }
    }
    guard case .lazy(let module) = try router.match("action:/a").route.handler else {
      Issue.record("not lazy")
      return
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 { group.addTask { try await module.load() } }
      try await group.waitForAll()
    }
    try await module.load()
    #expect(log.withLock { $0 } == ["loaded"])
  }
}

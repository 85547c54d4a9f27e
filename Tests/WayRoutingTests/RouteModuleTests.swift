import Testing
import WayPatterns
import WayRouting
import WayValues

private enum Lazy: RouteModule {
  static func routes() throws -> [Route] {
    [Route(name: "lazy", patterns: [try RoutePattern("action://lazy")], kind: .task)]
  }
  static func register(in router: Router) async throws {
    try router.handle("lazy", with: .task { _ in 1 })
  }
}

private enum Twin: RouteModule {
  static func routes() throws -> [Route] { try Lazy.routes() }
  static func register(in router: Router) async throws {}
}

private enum Shadow: RouteModule {
  static func routes() throws -> [Route] {
    [Route(name: "shadow", patterns: [try RoutePattern("action://lazy")], kind: .task)]
  }
  static func register(in router: Router) async throws {}
}

private enum Served: RouteModule {
  static let handledRoutes = ["told"]
  static func register(in router: Router) async throws {
    try router.handle("told", with: .task { _ in 1 })
  }
}

private enum ServedToo: RouteModule {
  static let handledRoutes = ["told"]
  static func register(in router: Router) async throws {}
}

private enum Eager: RouteModule {
  static let phase = StartPhase.table
  static func register(in router: Router) async throws {
    try router.task("action://told", name: "told") { _ in 1 }
  }
}

private enum Broken: RouteModule {
  static let name = "the broken one"
  static func routes() throws -> [Route] {
    [Route(name: "broken", patterns: [try RoutePattern("broken")], kind: .task)]
  }
  static func register(in router: Router) async throws {}
}

private struct Counter: Sendable, RouteService {
  let start: Int64
  static func make(for router: Router) throws -> Counter {
    Counter(start: Int64(router.snapshot().routes.count))
  }
  static func methods(_ service: inout ServiceMethods<Counter>) {
    service.method("start") { counter, _ in .integer(counter.start) }
  }
}

private enum SecondCounter: RouteService {
  static func make(for router: Router) -> Counter { Counter(start: 0) }
}

private enum UsesCounter: RouteModule {
  static let phase = StartPhase.table
  static func register(in router: Router) async throws {
    let start = try router.service(Counter.self).start
    try router.task("action://start") { _ in .integer(start) }
  }
}

private enum BrokenService: RouteService {
  static let name = "no name"
  static func make(for router: Router) -> Int { 1 }
  static func methods(_ service: inout ServiceMethods<Int>) {
    service.method("one") { one, _ in .integer(Int64(one)) }
  }
}

@Suite struct RouteModuleTests {
  private let router = Router()

  private func isLazy(_ uri: String) throws -> Bool {
    if case .lazy = try router.match(uri).route.handler { true } else { false }
  }

  @Test func `declares routes at start and loads handlers on call`()
    async throws
  {
    try router.register(module: Lazy.self)
    #expect(try router.route("action://lazy") == nil)
    try await router.start()
    #expect(try router.route("action://lazy") == "lazy")
    #expect(try isLazy("action://lazy"))
  }

  @Test
  func `an eager module registers before modules that handle its routes`()
    async throws
  {
    try router.register(module: Served.self)
    try router.register(module: Eager.self)
    try await router.start()
    #expect(try isLazy("action://told"))
  }

  @Test func `a module without a name uses its type name`() {
    #expect(Lazy.name == "Lazy")
    #expect(Counter.name == "Counter")
    #expect(Broken.name == "the broken one")
  }

  @Test func `a failed start names the module and rejects later ones`() async throws {
    try router.register(module: Broken.self)
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.phase == .pages)
    #expect(error?.description.contains("\"the broken one\" could not register: ") == true)
    #expect(throws: RouterConfigurationError.alreadyStarted) {
      try router.register(module: Lazy.self)
    }
    #expect(throws: RouterConfigurationError.alreadyStarted) {
      try router.register(service: Counter.self)
    }
  }

  @Test(
    "two modules with the same route fail the start",
    arguments: [
      (
        [Lazy.self, Twin.self],
        "\"Twin\" could not register: the module \"Lazy\" serves the route \"lazy\" already; remove one of the two, or give"
          + " the route of one another name"
      ),
      (
        [Lazy.self, Shadow.self],
        "\"Shadow\" could not register: the pattern \"action://lazy\" of the route \"shadow\" has the shape and the"
          + " priority of a pattern of \"lazy\"; change its priority or remove one"
      ),
      (
        [Eager.self, Served.self, ServedToo.self],
        "\"ServedToo\" could not register: the module \"Served\" serves the route \"told\" already; remove one of the two,"
          + " or give the route of one another name"
      ),
    ] as [([any RouteModule.Type], String)])
  func rejectsModulesWithSameRoute(_ modules: [any RouteModule.Type], _ expected: String)
    async throws
  {
    for module in modules { try router.register(module: module) }
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.description == "the start failed in the phase \"pages\": " + expected)
  }

  @Test func `ignores repeated registrations`() async throws {
    for _ in 0..<2 {
      try router.register(service: Counter.self)
      try router.register(module: Eager.self)
      try router.register(module: Lazy.self)
    }
    try await router.start()
    #expect(router.snapshot().routes.map(\.name) == ["told", "lazy", "Counter.start"])
  }

  @Test func `rejects two services of one type`() async throws {
    try router.register(service: Counter.self)
    let error = #expect(throws: RouterConfigurationError.self) {
      try router.register(service: SecondCounter.self)
    }
    #expect(
      error?.description
        == "the services \"SecondCounter\" and \"Counter\" are both for the type Counter: remove one of the two, have it"
        + " conform to ManualRegistration, or register one before them by Router.registerService(_:name:make:methods:)"
    )
    try await router.start()
    #expect(router.snapshot().routes.map(\.name) == ["Counter.start"])
  }

  @Test(arguments: [true, false])
  func `a manually registered service replaces another`(isFirst: Bool) async throws {
    func registerByHand() throws {
      try router.registerService(Counter.self, name: "Mock") {
        Counter(start: 7)
      } methods: { service in
        service.method("mock") { _, _ in nil }
      }
    }
    if isFirst { try registerByHand() }
    try router.register(service: Counter.self)
    if !isFirst { try registerByHand() }
    try await router.start()
    #expect(try router.service(Counter.self).start == 7)
    #expect(router.snapshot().routes.map(\.name) == ["Mock.mock"])
  }

  @Test
  func
    `a service is created on first use in any phase`()
    async throws
  {
    try router.register(module: UsesCounter.self)
    try router.register(service: Counter.self)
    #expect(try router.route("service://counter/start") == nil)
    try await router.start()
    #expect(try router.route("service://counter/start") == "Counter.start")
    #expect(try router.route("action://start") == "action://start")
    try router.task("action://more") { _ in nil }
    #expect(try router.service(Counter.self).start == 0)
  }

  @Test func `an invalid service method fails the start`() async throws {
    try router.register(service: BrokenService.self)
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.phase == .tasks)
    #expect(error?.description.contains("\"no name\" could not register: ") == true)
  }

  @Test func `services do not retain their router`() async throws {
    weak var weakRouter: Router?
    do {
      let router = Router()
      weakRouter = router
      try router.register(service: Counter.self)
      try await router.start()
      _ = try router.service(Counter.self)
    }
    #expect(weakRouter == nil)
  }
}

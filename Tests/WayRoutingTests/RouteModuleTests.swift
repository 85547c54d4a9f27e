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
  static let serving = ["told"]
  static func register(in router: Router) async throws {
    try router.handle("told", with: .task { _ in 1 })
  }
}

private enum ServedToo: RouteModule {
  static let serving = ["told"]
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

  @Test func `what a module declares is there after the start, and its handlers when it is called`()
    async throws
  {
    try router.register(module: Lazy.self)
    #expect(try router.route("action://lazy") == nil)
    try await router.start()
    #expect(try router.route("action://lazy") == "lazy")
    #expect(try isLazy("action://lazy"))
  }

  @Test
  func `a module without routes registers at the start, before those that serve what it brings`()
    async throws
  {
    try router.register(module: Served.self)
    try router.register(module: Eager.self)
    try await router.start()
    #expect(try isLazy("action://told"))
  }

  @Test func `a module is called by its type where it has no name of its own`() {
    #expect(Lazy.name == "Lazy")
    #expect(Counter.name == "Counter")
    #expect(Broken.name == "the broken one")
  }

  @Test func `a module that fails the start is named, and later ones are refused`() async throws {
    try router.register(module: Broken.self)
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.phase == .pages)
    #expect(error?.description.contains("'the broken one' could not register: ") == true)
    #expect(throws: RouterError.started) { try router.register(module: Lazy.self) }
    #expect(throws: RouterError.started) { try router.register(service: Counter.self) }
  }

  @Test(
    "two modules that claim one route fail the start, which names both, or both routes",
    arguments: [
      (
        [Lazy.self, Twin.self],
        "'Twin' could not register: the module 'Lazy' serves the route 'lazy' already; remove one of the two, or give"
          + " the route of one another name"
      ),
      (
        [Lazy.self, Shadow.self],
        "'Shadow' could not register: the pattern 'action://lazy' of the route 'shadow' has the shape and the"
          + " priority of a pattern of 'lazy'; change its priority or remove one"
      ),
      (
        [Eager.self, Served.self, ServedToo.self],
        "'ServedToo' could not register: the module 'Served' serves the route 'told' already; remove one of the two,"
          + " or give the route of one another name"
      ),
    ] as [([any RouteModule.Type], String)])
  func oneOfTwo(_ modules: [any RouteModule.Type], _ expected: String) async throws {
    for module in modules { try router.register(module: module) }
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.description == "the start failed in the phase 'pages': " + expected)
  }

  @Test func `what is registered twice is registered once`() async throws {
    for _ in 0..<2 {
      try router.register(service: Counter.self)
      try router.register(module: Eager.self)
      try router.register(module: Lazy.self)
    }
    try await router.start()
    #expect(router.snapshot().routes.map(\.name) == ["told", "lazy", "Counter.start"])
  }

  @Test func `two services of one type are refused`() async throws {
    try router.register(service: Counter.self)
    let error = #expect(throws: RouterError.self) {
      try router.register(service: SecondCounter.self)
    }
    #expect(
      error?.description
        == "the services 'SecondCounter' and 'Counter' are both for the type Counter: remove one of the two, have it"
        + " conform to RegisteredByHand, or register one before them by Router.service(_:name:make:methods:)"
    )
    try await router.start()
    #expect(router.snapshot().routes.map(\.name) == ["Counter.start"])
  }

  @Test(arguments: [true, false])
  func `a service that is registered by hand takes the place of another`(isFirst: Bool) async throws
  {
    func registerByHand() throws {
      try router.service(Counter.self, name: "Mock") {
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
    `a service is there for every phase, its methods come at the start, and it is made when it is used`()
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

  @Test func `a service whose method is refused fails the start`() async throws {
    try router.register(service: BrokenService.self)
    let error = await #expect(throws: StartError.self) { try await router.start() }
    #expect(error?.phase == .tasks)
    #expect(error?.description.contains("'no name' could not register: ") == true)
  }

  @Test func `a router is not held by its services`() async throws {
    weak var gone: Router?
    do {
      let router = Router()
      gone = router
      try router.register(service: Counter.self)
      try await router.start()
      _ = try router.service(Counter.self)
    }
    #expect(gone == nil)
  }
}

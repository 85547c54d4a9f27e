import TestSupport
import Tracing
import WayRouting
import WaySession
import WayTable
import WayTransport
import WayValues

/// A bridge in memory with the demo's table and the conformance methods.
struct InMemoryBridge {
  let router: Router
  let hub: SessionServer
  /// The only one of the group.
  let loopHub: LoopSessions
  let server: MemoryServerFixture

  /// The wall clock stands at this millisecond where the loop's time has not been moved, and where it
  /// is right.
  static let now: Int64 = 1_750_000_000_000

  init(
    _ router: Router, limits: Limits = Limits(), observer: Observer = Observer(),
    identify: IdentityResolver? = nil, rules: CompiledPolicy? = nil, tracer: (any Tracer)? = nil,
    store: (any SessionStore)? = nil, table: LiveTable? = nil, cluster: Cluster? = nil,
    clockOff: Duration = .zero
  ) {
    self.router = router
    let loop = MemoryLoop()
    var configuration = SessionServerConfiguration(
      router: router, limits: limits, methods: ConformanceMethods.methods,
      now: { Self.now + Int64(clockOff / .milliseconds(1)) + Int64(loop.nanoseconds / 1_000_000) },
      identify: identify)
    configuration.observer = observer
    configuration.rulebook = rules
    configuration.tracer = tracer
    configuration.store = store
    configuration.table = table
    configuration.cluster = cluster
    hub = SessionServer(configuration)
    loopHub = LoopSessions(loop: loop, in: hub)
    server = MemoryServerFixture(loop: loop, acceptor: loopHub)
  }

  /// An app whose sessions belong to the user that their token names; it has offers to push.
  static func offers() throws -> InMemoryBridge {
    let router = Router()
    try router.page("native://offer/:id")
    try router.task("action://add") { call in .bool(call.params["n"] == 1) }
    return InMemoryBridge(router, identify: { Identity(user: $0.token) })
  }

  static func conformance(
    _ router: Router = Router(), store: (any SessionStore)? = nil, policy: Value? = nil,
    clockOff: Duration = .zero
  ) throws -> InMemoryBridge {
    try RouteTable(parsing: try ProjectFiles.json("protocol/routes/demo.json")).apply(to: router)
    try ConformanceMethods.register(in: router)
    var limits = Limits()
    limits.maxRate = 0
    let rules = try policy.flatMap { try Policy(parsing: $0).rules }.map { try CompiledPolicy($0) }
    return InMemoryBridge(router, limits: limits, rules: rules, store: store, clockOff: clockOff)
  }
}

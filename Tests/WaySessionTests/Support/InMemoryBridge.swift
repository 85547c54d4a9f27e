import TestSupport
import Tracing
import WayRouting
import WaySession
import WayTable
import WayTransport
import WayValues

/// Resolves the identity of a client.
typealias IdentityResolver = @Sendable (Handshake) async throws -> Identity

/// A bridge in memory with the demo's table and the conformance methods.
struct InMemoryBridge {
  let router: Router
  let sessionServer: SessionServer
  /// The only loop of the server.
  let loopSessions: LoopSessions
  let server: MemoryServerFixture

  /// The wall clock in milliseconds since 1970, if the loop's time has not advanced and the clock
  /// has no offset.
  static let startTime: Int64 = 1_750_000_000_000

  init(
    _ router: Router, limits: Limits = Limits(), observer: EventSink = EventSink(),
    identify: IdentityResolver? = nil, rules: CompiledPolicy? = nil, tracer: (any Tracer)? = nil,
    store: (any SessionStore)? = nil, table: LiveTable? = nil, cluster: Cluster? = nil,
    resultCheck: ResultCheck = .reject, clockOff: Duration = .zero, loop: MemoryLoop = MemoryLoop()
  ) {
    self.router = router
    var configuration = SessionServerConfiguration(
      router: router, limits: limits,
      now: {
        Self.startTime + Int64(clockOff / .milliseconds(1)) + Int64(loop.nanoseconds / 1_000_000)
      })
    configuration.methods = ConformanceMethods.methods
    configuration.sessions.identify = identify
    configuration.eventSink = observer
    configuration.compiledPolicy = rules
    configuration.tracer = tracer
    configuration.sessions.store = store
    configuration.sessions.table = table
    configuration.sessions.resultCheck = resultCheck
    configuration.sessions.cluster = cluster
    configuration.blobs = BlobTokens(limits: limits) { _ in }
    sessionServer = SessionServer(configuration)
    loopSessions = sessionServer.dispatch.makeLoopSessions(on: loop)
    server = MemoryServerFixture(loop: loop, acceptor: RetainingAcceptor(loopSessions))
  }

  /// Returns an app whose sessions belong to the user named by their token, with offers to push.
  static func withOffers() throws -> InMemoryBridge {
    let router = Router()
    try router.page("native://offer/:id")
    try router.task("action://add") { call in .bool(call.params["n"] == 1) }
    return InMemoryBridge(router, identify: { Identity(user: $0.token) })
  }

  static func conformance(
    _ router: Router = Router(), store: (any SessionStore)? = nil, policy: Value? = nil,
    clockOffset: Duration = .zero
  ) throws -> InMemoryBridge {
    try RouteTable(parsing: try ProjectFiles.json("protocol/routes/demo.json")).apply(to: router)
    try ConformanceMethods.register(in: router)
    var limits = Limits()
    limits.maxRate = 0
    let rules = try policy.flatMap { try Policy(parsing: $0).rules }.map { try CompiledPolicy($0) }
    return InMemoryBridge(router, limits: limits, rules: rules, store: store, clockOff: clockOffset)
  }
}

/// Accepts connections as a server does, and retains its sessions, so that a test need not.
private struct RetainingAcceptor: ChannelAcceptor {
  private let loopSessions: LoopSessions

  init(_ loopSessions: LoopSessions) { self.loopSessions = loopSessions }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    ConnectionAcceptor(loopSessions.sessionServer).accept(channel, handshake)
  }
}

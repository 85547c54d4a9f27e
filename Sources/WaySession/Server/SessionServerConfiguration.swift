import Logging
import Tracing
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

/// What all sessions of a hub share.
package struct SessionServerConfiguration: Sendable {
  package var router: Router
  package var limits: Limits
  /// The route table that can be changed; nil where the app has none.
  package var table: LiveTable?
  /// Methods beside the bridge's own, by name.
  package var methods: [String: RawMethod]
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  package var now: @Sendable () -> Int64
  /// Who a client is, by its token and its handshake; what it throws refuses the client. Nil takes
  /// everybody as nobody in particular.
  package var identify: IdentityResolver?
  /// How long that may take.
  package var identifyTimeout: Duration = .seconds(5)
  /// Nil where everybody who came in may call everything.
  package var rulebook: CompiledPolicy?
  /// What callers' loggers add to; nil where nothing is logged.
  package var logger: Logger?
  package var observer = Observer()
  /// Keeps sessions beyond the life of the server; nil keeps none.
  package var store: (any SessionStore)?
  /// The servers that this is one of, whose store is in the place of ``store``; nil for one alone.
  package var cluster: Cluster?
  /// Takes the spans of calls; the app's own where it has bootstrapped one.
  package var tracer: (any Tracer)? = {
    let tracer = InstrumentationSystem.tracer
    return tracer is NoOpTracer ? nil : tracer
  }()

  package init(
    router: Router, limits: Limits = Limits(),
    methods: [String: RawMethod] = [:], now: @escaping @Sendable () -> Int64,
    identify: IdentityResolver? = nil
  ) {
    self.router = router
    self.limits = limits.inRange
    self.methods = methods
    self.now = now
    self.identify = identify
  }
}

/// Tells who a client is.
package typealias IdentityResolver = @Sendable (Handshake) async throws -> Identity

import Logging
import Tracing
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

/// The configuration that all sessions of a server share.
package struct SessionServerConfiguration: Sendable {
  package var router: Router
  package var limits: Limits
  /// The route table that can be changed; nil if the app has none.
  package var table: LiveTable?
  /// Methods in addition to the bridge's own, by name.
  package var methods: [String: RawMethod]
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  package var now: @Sendable () -> Int64
  /// Resolves a client's identity from its token and its handshake; an error rejects the client.
  /// Nil accepts every client, with an empty identity.
  package var identify: IdentityResolver?
  /// Whether ``identify`` accepts clients without a token.
  package var allowsAnonymous = false
  /// Returns a hash of the keys that ``identify`` verifies tokens with; nil if it has none.
  package var keysHash: (@Sendable () async -> String)?
  /// The timeout of ``identify``.
  package var identifyTimeout: Duration = .seconds(5)
  /// Nil if every accepted client may call everything.
  package var compiledPolicy: CompiledPolicy?
  /// The base of the callers' loggers; nil if nothing is logged.
  package var logger: Logger?
  package var eventSink = EventSink()
  /// Persists sessions beyond the life of the server; nil persists none.
  package var store: (any SessionStore)?
  /// The cluster of this server, whose store replaces ``store``; nil if there is none.
  package var cluster: Cluster?
  /// Receives the spans of calls; the app's own tracer if it has bootstrapped one.
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
    self.limits = limits.clamped
    self.methods = methods
    self.now = now
    self.identify = identify
  }
}

/// Resolves the identity of a client.
package typealias IdentityResolver = @Sendable (Handshake) async throws -> Identity

import Logging
import Tracing
import WayRouting
import WayTransport

/// The configuration that all sessions of a server share.
package struct SessionServerConfiguration: Sendable {
  package var router: Router
  package var sessions: SessionConfiguration
  package var limits: Limits
  /// Methods in addition to the bridge's own, by name.
  package var methods: [String: RawMethod] = [:]
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  package var now: @Sendable () -> Int64
  /// Returns a hash of the keys that tokens are verified with; nil if there are none.
  package var keysHash: (@Sendable () async -> String)?
  /// Nil if every accepted client may call everything.
  package var compiledPolicy: CompiledPolicy?
  /// The base of the callers' loggers; nil if nothing is logged.
  package var logger: Logger?
  package var eventSink = EventSink()
  /// The clients' access to blobs; nil if the server has none.
  package var blobs: BlobTokens?
  /// Receives the spans of calls; the app's own tracer if it has bootstrapped one.
  package var tracer: (any Tracer)? = {
    let tracer = InstrumentationSystem.tracer
    return tracer is NoOpTracer ? nil : tracer
  }()

  package init(
    router: Router, sessions: SessionConfiguration = SessionConfiguration(),
    limits: Limits = Limits(), now: @escaping @Sendable () -> Int64
  ) {
    self.router = router
    self.sessions = sessions
    self.limits = limits.clamped
    self.now = now
  }
}

import WaySession

extension BridgeConfiguration {
  /// The endpoint for calls of back-ends; nil if their callers could not be distinguished.
  func rpcEndpoint(_ sessionServer: SessionServer) -> BridgeResponder.RPCEndpoint? {
    guard sessions.identify != nil || network.unixPath != nil else { return nil }
    return BridgeResponder.RPCEndpoint(
      sessionServer: sessionServer, maxMessage: effectiveLimits.maxMessage,
      allowsAnonymous: sessions.identify == nil,
      agents: sessions.identify.map { _ in AgentEndpoint(sessionServer) })
  }

  /// The configuration of the sessions; `now` is the wall clock. If conformance methods are
  /// enabled, adds their routes to the router and their methods to the sessions, for tests of
  /// clients.
  func sessionServerConfiguration(
    for router: Router, log: BridgeLog?, now: @escaping @Sendable () -> Int64
  ) throws -> SessionServerConfiguration {
    if enablesConformanceMethods { try ConformanceMethods.register(in: router) }
    var shared = SessionServerConfiguration(
      router: router, sessions: sessions, limits: effectiveLimits, now: now)
    if enablesConformanceMethods { shared.methods = ConformanceMethods.methods }
    if let tokenKeys { shared.keysHash = { await tokenKeys.hash } }
    shared.compiledPolicy = try sessions.policy.compiled()
    shared.logger = logger
    if let log { shared.eventSink = log.eventSink }
    if let onAudit {
      let logRecord = shared.eventSink.audit
      shared.eventSink.audit = { record in
        logRecord?(record)
        onAudit(record)
      }
    }
    return shared
  }
}

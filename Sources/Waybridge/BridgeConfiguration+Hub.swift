import WaySession

extension BridgeConfiguration {
  /// Where calls of back-ends go; nil where nobody could be told apart.
  func post(_ group: SessionServer) -> BridgeResponder.Post? {
    guard identify != nil || unixPath != nil else { return nil }
    return BridgeResponder.Post(
      group: group, maxMessage: keptLimits.maxMessage, isOpen: identify == nil)
  }

  /// What sessions are told of the configuration; `now` is the wall clock. For tests of clients the
  /// router gets the routes of their own, and the sessions the methods.
  func hub(
    serving router: Router, log: BridgeLog?, now: @escaping @Sendable () -> Int64
  ) throws -> SessionServerConfiguration {
    if conformance { try ConformanceMethods.register(in: router) }
    var shared = SessionServerConfiguration(
      router: router, limits: keptLimits,
      methods: conformance ? ConformanceMethods.methods : [:], now: now, identify: identify)
    shared.identifyTimeout = identifyTimeout
    shared.rulebook = try policy.rulebook()
    shared.logger = logger
    shared.table = table
    shared.store = store
    shared.cluster = cluster
    if let log { shared.observer = log.observer }
    return shared
  }
}

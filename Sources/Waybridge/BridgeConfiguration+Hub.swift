import WaySession

extension BridgeConfiguration {
  /// What sessions are told of the configuration; `now` is the wall clock. For tests of clients the
  /// router gets the methods and the task of their own.
  func hub(
    serving router: Router, log: BridgeLog?, now: @escaping @Sendable () -> Int64
  ) throws -> HubConfiguration {
    if conformance { try Self.addEcho(to: router) }
    var shared = HubConfiguration(
      router: router, limits: keptLimits, tableVersion: tableVersion,
      methods: conformance ? Conformance.methods : [:], now: now, identify: identify)
    if let log { shared.observer = log.observer }
    return shared
  }

  /// A bridge may run again with the same router, so what an earlier run added gives way.
  private static func addEcho(to router: Router) throws {
    let added = Router()
    try Conformance.register(in: added)
    for route in added.snapshot().routes { try router.register(route, replacing: true) }
  }
}

import WayValues

/// Checks requests that the server may have performed already before it was restarted.
enum SessionReplayCheck {
  /// Methods that change nothing, or that have the same effect when they are repeated.
  private static let idempotentMethods: Set<String> = [
    "router.canOpen", "router.explain", "router.routes", "navigation.stack", "navigation.contains",
    "host.register", "events.subscribe", "session.renew", "page.sync", "session.close", "table.get",
    "table.check", "session.list", "rpc.discover", "$/ping", "admin.watch", "admin.unwatch",
    "admin.sessions", "admin.session", "admin.routes", "admin.refusals", "admin.versions",
    "admin.explain",
  ]

  /// Throws 2599 unless a request may be performed again. A request with an idempotency key is
  /// performed only once in any case.
  static func check(_ method: Method, _ params: Value?) throws(CallError) {
    let acceptsKey = method.paramList.params.contains { $0.name == .key }
    if idempotentMethods.contains(method.name) || acceptsKey && params?["key"]?.string != nil {
      return
    }
    throw ClientResume.outcomeUnknown
  }
}

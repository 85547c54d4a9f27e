import WayValues

/// Checks messages that the server may have performed already before it was restarted.
enum SessionReplayCheck {
  /// Methods that change nothing, or that have the same effect when they are repeated.
  private static let idempotentMethods: Set<String> = [
    "router.canOpen", "router.explain", "router.routes", "navigation.stack", "navigation.contains",
    "host.register", "events.subscribe", "session.renew", "page.sync", "session.close", "table.get",
    "table.check", "session.list", "rpc.discover", "$/ping", "admin.watch", "admin.unwatch",
    "admin.sessions", "admin.session", "admin.routes", "admin.refusals", "admin.versions",
    "admin.explain",
  ]

  /// Whether a message may be performed again. A request with an idempotency key is performed only
  /// once in any case.
  static func allows(_ method: SessionMethod, _ params: Value?) -> Bool {
    if idempotentMethods.contains(method.name) { return true }
    let acceptsKey = method.paramList.params.contains { $0.name == .key }
    return acceptsKey && params?["key"]?.string != nil
  }
}

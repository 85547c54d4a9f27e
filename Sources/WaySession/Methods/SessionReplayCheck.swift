import WayValues

/// Requests that the server may have carried out before it was restarted.
enum SessionReplayCheck {
  /// Those that change nothing, and those that leave all as it is when they are made once more.
  private static let repeatable: Set<String> = [
    "router.canOpen", "router.explain", "router.routes", "navigation.stack", "navigation.contains",
    "host.register", "events.subscribe", "session.renew", "page.sync", "session.close", "table.get",
    "table.check", "session.list", "rpc.discover", "$/ping", "admin.watch", "admin.unwatch",
    "admin.sessions", "admin.session", "admin.routes", "admin.refusals", "admin.versions",
    "admin.explain",
  ]

  /// Whether a request may be carried out although it may have been: one with a key is done once
  /// whatever comes. Fails with 2599.
  static func check(_ method: Method, _ params: Value?) throws(CallError) {
    let takesKey = method.takes.params.contains { $0.name == .key }
    if repeatable.contains(method.name) || takesKey && params?["key"]?.string != nil { return }
    throw ClientResume.unknown
  }
}

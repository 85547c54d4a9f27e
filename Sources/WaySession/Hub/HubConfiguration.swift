import WayRPC
import WayRouting
import WayValues

/// What all sessions of a hub share.
package struct HubConfiguration: Sendable {
  package var router: Router
  package var limits: Limits
  /// The table's version, as `session.open` tells it.
  package var tableVersion: String
  /// Methods beside the bridge's own, by name.
  package var methods: [String: RawMethod]
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  package var now: @Sendable () -> Int64
  /// Whose a new session is, by the token that it was opened with; what it throws refuses the
  /// session. Nil takes everybody as nobody in particular.
  package var identify: (@Sendable (String?) throws -> Identity)?
  package var observer = Observer()

  package init(
    router: Router, limits: Limits = Limits(), tableVersion: String = "",
    methods: [String: RawMethod] = [:], now: @escaping @Sendable () -> Int64,
    identify: (@Sendable (String?) throws -> Identity)? = nil
  ) {
    self.router = router
    self.limits = limits.inRange
    self.tableVersion = tableVersion
    self.methods = methods
    self.now = now
    self.identify = identify
  }

  /// Whose a session with this token is. Fails with 2401.
  func identity(of token: String?) throws(CallError) -> Identity {
    do {
      return try identify?(token) ?? Identity()
    } catch {
      let reason = (error as? CallError)?.message ?? "\(error)"
      throw CallError(.notAuthenticated, "params.token was refused: \(reason)")
    }
  }
}

import WayRPC
import WayRouting
import WayValues

/// A method beside the bridge's own, answered at once.
package typealias ExtraMethod = @Sendable (Value?) throws(RPCError) -> Value

/// What all sessions of a bridge share.
package struct BridgeSettings: Sendable {
  package var router: Router
  package var limits: Limits
  /// The table's version, as `session.open` tells it.
  package var tableVersion: String
  /// Methods beside the bridge's own, by name.
  package var methods: [String: ExtraMethod]

  package init(
    router: Router, limits: Limits = Limits(), tableVersion: String = "",
    methods: [String: ExtraMethod] = [:]
  ) {
    self.router = router
    self.limits = limits.inRange
    self.tableVersion = tableVersion
    self.methods = methods
  }

  static let serverName = "waybridge"
  static let serverVersion = "0.1.0"
  /// The version of the protocol that is spoken.
  static let protocolVersion = "1.0"
}

import WayRouting
import WayValues

// The limits of agents, within which the policy may give them rights: they call routes that the table
// declares for them.
extension Caller.CallingAgent {
  private static let methods = [
    "router.open", "router.invoke", "router.canOpen", "router.explain", "router.routes",
    "session.close", "session.renew", "rpc.discover", "page.sync",
  ]

  /// Checks whether an agent may call a method at all. Throws 2403.
  func check(_ method: String) throws(CallError) {
    guard !Self.methods.contains(where: method.isSameUTF8), !method.hasPrefix("$/") else { return }
    throw .notForAgents("An agent may not call \(method)")
  }

  /// Checks whether an agent may call a method about the target of a URI. Throws 2403.
  func check(_ method: PolicyRouteMethod, _ resolution: Resolution) throws(CallError) {
    try check(method.name)
    guard resolution.route?.agents == nil else { return }
    throw .notForAgents(
      resolution.route.map { "The route \($0.name.quoted) is not declared for agents" }
        ?? "The target of the URI is not declared for agents")
  }
}

extension CallError {
  /// The error of a call that no policy can allow an agent.
  static func notForAgents(_ message: String) -> CallError { .forbidden("agents", message) }
}

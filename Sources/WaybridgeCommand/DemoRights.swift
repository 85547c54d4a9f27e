import Waybridge

/// Who may do what in the demo: whoever comes in may call everything, and its own workbench may
/// repair the table besides.
enum DemoRights {
  private static let workbench = "workbench"

  /// A guest is nobody's user, so a page that the phone shows repairs nothing.
  static var policy: Policy {
    Policy(rules: [
      Policy.Rule(
        "everybody", .allow, ["router.*", "navigation.*", "page.*", "events.*", "host.*"]),
      Policy.Rule("the workbench repairs the table", .allow, ["table.*"], subjects: [workbench]),
    ])
  }

  /// What of a handshake tells the workbench.
  static var headers: [String] { ["host"] }

  /// Who a client is. The workbench is a page of this server on this machine that says so; its
  /// phone belongs to one of the shop's people.
  @Sendable static func identity(of handshake: Handshake) -> Identity {
    guard handshake.token == workbench, isHere(handshake) else { return Identity() }
    return Identity(user: workbench, groups: ["staff"])
  }

  /// Whether the workbench calls, and no page that it has invited.
  static func isWorkbench(_ caller: Caller) -> Bool {
    caller.identity.user == workbench && !caller.isGuest
  }

  /// Whether a page of this server asks, in a browser of this machine, by an address of it.
  private static func isHere(_ handshake: Handshake) -> Bool {
    guard let address = handshake.address, ["127.0.0.1", "::1"].contains(address),
      let host = handshake.headers.first(where: { $0.name == "host" })?.value,
      handshake.origin == "http://\(host)"
    else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
  }
}

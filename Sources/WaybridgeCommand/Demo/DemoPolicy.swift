import Waybridge

/// The authorization rules of the demo. Every client may call everything. Programs on this machine,
/// and the server's own pages in a local browser, may also inspect the server. The server's own
/// workbench may also repair the table.
enum DemoPolicy {
  private static let workbench = "workbench"
  private static let localGroup = "here"

  /// A guest has no user, so a page that the app shell shows cannot repair the table.
  static var policy: Policy {
    Policy(rules: [
      Policy.Rule(
        "everybody", .allow,
        ["router.*", "navigation.*", "page.*", "events.*", "host.*", "blobs.*"]),
      Policy.Rule(
        "this machine inspects", .allow, ["admin.*", "session.list"], groups: [localGroup]),
      Policy.Rule("the workbench repairs the table", .allow, ["table.*"], subjects: [workbench]),
    ])
  }

  /// The header fields by which the workbench is recognized.
  static var headers: [String] { ["host"] }

  /// Identifies a client. The workbench is a page of this server, on this machine, that sends the
  /// workbench's token; its user belongs to the shop's staff.
  @Sendable static func identity(of handshake: Handshake) -> Identity {
    guard isLocal(handshake) else { return Identity() }
    guard handshake.token == workbench, handshake.origin != nil else {
      return Identity(groups: [UTF8Key(localGroup)])
    }
    return Identity(user: workbench, groups: ["staff", UTF8Key(localGroup)])
  }

  /// Whether the workbench itself calls, and not a page that it has invited.
  static func isWorkbench(_ caller: Caller) -> Bool {
    caller.identity.user == workbench && !caller.isGuest
  }

  /// Whether the client is a program on this machine that connects to a local address, or a page of
  /// this server in a local browser.
  private static func isLocal(_ handshake: Handshake) -> Bool {
    guard let address = handshake.address, ["127.0.0.1", "::1"].contains(address),
      let host = handshake.headers.first(where: { $0.name == "host" })?.value,
      handshake.origin.map({ $0 == "http://\(host)" }) ?? true
    else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
  }
}

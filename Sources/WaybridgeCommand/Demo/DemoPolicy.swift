import Waybridge

/// Who may do what in the demo: whoever comes in may call everything; programs of this machine, and
/// the server's own pages in a browser of it, may inspect the server; and its own workbench may
/// repair the table besides.
enum DemoPolicy {
  private static let workbench = "workbench"
  private static let here = "here"

  /// A guest is nobody's user, so a page that the phone shows repairs nothing.
  static var policy: Policy {
    Policy(rules: [
      Policy.Rule(
        "everybody", .allow, ["router.*", "navigation.*", "page.*", "events.*", "host.*"]),
      Policy.Rule("this machine inspects", .allow, ["admin.*", "session.list"], groups: [here]),
      Policy.Rule("the workbench repairs the table", .allow, ["table.*"], subjects: [workbench]),
    ])
  }

  /// What of a handshake tells the workbench.
  static var headers: [String] { ["host"] }

  /// Who a client is. The workbench is a page of this server on this machine that says so; its
  /// phone belongs to one of the shop's people.
  @Sendable static func identity(of handshake: Handshake) -> Identity {
    guard isHere(handshake) else { return Identity() }
    guard handshake.token == workbench, handshake.origin != nil else {
      return Identity(groups: [here])
    }
    return Identity(user: workbench, groups: ["staff", here])
  }

  /// Whether the workbench calls, and no page that it has invited.
  static func isWorkbench(_ caller: Caller) -> Bool {
    caller.identity.user == workbench && !caller.isGuest
  }

  /// Whether a program of this machine asks by an address of it, or a page of this server in a browser
  /// of it.
  private static func isHere(_ handshake: Handshake) -> Bool {
    guard let address = handshake.address, ["127.0.0.1", "::1"].contains(address),
      let host = handshake.headers.first(where: { $0.name == "host" })?.value,
      handshake.origin.map({ $0 == "http://\(host)" }) ?? true
    else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
  }
}

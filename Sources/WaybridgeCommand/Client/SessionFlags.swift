import ArgumentParser
import WaybridgeClient

/// Which session a client becomes a member of.
struct SessionFlags: ParsableArguments {
  @Option(help: .setting("session", valueName: "id"), completion: .nothing)
  var session: String?

  // A token may begin with a hyphen.
  @Option(
    parsing: .unconditional, help: .setting("join", valueName: "token"), completion: .nothing)
  var join: String?
}

extension Configuration {
  /// The session to join; nil where none is named.
  var membership: BridgeClient.Join? {
    get throws(CommandError) {
      switch (session.isEmpty, join.isEmpty) {
      case (true, true): return nil
      case (false, false): return BridgeClient.Join(session: session, token: join)
      default:
        throw CommandError(
          "Give both --session and --join, as waybridge shell prints them, or neither")
      }
    }
  }
}

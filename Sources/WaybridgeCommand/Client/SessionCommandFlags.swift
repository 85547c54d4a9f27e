import ArgumentParser
import WaybridgeClient

/// The flags that select the session that a client joins.
struct SessionCommandFlags: ParsableArguments {
  @Option(help: .setting("session", valueName: "id"), completion: .nothing)
  var session: String?

  // A token may begin with a hyphen.
  @Option(
    parsing: .unconditional, help: .setting("join", valueName: "token"), completion: .nothing)
  var join: String?
}

extension CommandSettings {
  /// The session to join; nil if none is given.
  var joinCredentials: BridgeClient.JoinCredentials? {
    get throws(CommandError) {
      switch (sessionID.isEmpty, joinToken.isEmpty) {
      case (true, true): return nil
      case (false, false): return BridgeClient.JoinCredentials(session: sessionID, token: joinToken)
      default:
        throw CommandError(
          "--session and --join belong together: give both, as waybridge shell prints them, or neither"
        )
      }
    }
  }
}

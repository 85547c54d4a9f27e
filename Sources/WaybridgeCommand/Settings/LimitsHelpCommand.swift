import ArgumentParser

/// The help topic `waybridge help limits`. It is a hidden command, since the argument parser has no
/// other help topics.
struct LimitsHelpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limits",
    abstract: "Limits of waybridge serve and waybridge demo",
    usage: "WAYBRIDGE_LIMITS_NAME=NUMBER waybridge serve",
    discussion: """
      A limit bounds what clients, sessions and messages can use. It has no flag: set its variable, \
      or a member of the object "limits" in the file of --config, such as {"limits": {"maxBatch": \
      20}}. PROTOCOL.md describes what the server does when a limit is exceeded.

      The variables, with their default values:
      \(CommandSettingHelp.limits)

      Example: WAYBRIDGE_LIMITS_MAX_BATCH=20 waybridge serve --table routes.json
      Example: WAYBRIDGE_LIMITS_PING_MS=5000 WAYBRIDGE_LIMITS_SILENCE_MS=9000 waybridge demo
      """,
    shouldDisplay: false)
}

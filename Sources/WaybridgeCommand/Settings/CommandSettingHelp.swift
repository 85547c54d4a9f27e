import ArgumentParser

/// The parts of `--help` about settings.
enum CommandSettingHelp {
  /// The paragraph about environment variables, for commands with settings.
  static let environment = """
    Environment: each option has the variable in brackets. A flag overrides its variable, and a \
    variable overrides the configuration file. An empty variable counts as absent. The command \
    rejects variables that begin with WAYBRIDGE_ and that it does not know.
    """

  /// The paragraph about the configuration file, for commands with settings.
  static let files = """
    Files: --config names a JSON object with settings: {"port": 0, "limits": {"maxBatch": 20}}. Its \
    keys are the names of the options in camel case. Paths in it are relative to its folder.
    """

  /// A line with the name and the default value for each limit, and a line with its meaning.
  static var limits: String {
    LimitSettings.settings.map { setting in
      "  \(setting.environmentVariable)\(setting.initialText)\n      \(setting.help)"
    }.joined(separator: "\n")
  }
}

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

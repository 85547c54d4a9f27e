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

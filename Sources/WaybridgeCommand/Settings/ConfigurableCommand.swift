import ArgumentParser

/// A command with settings.
protocol ConfigurableCommand: AsyncParsableCommand {
  var config: ConfigurationFile { get }
  /// The flags for settings.
  var flags: [CommandSettingFlag] { get }
}

extension ConfigurableCommand {
  mutating func validate() throws { try checkFlags() }

  /// Throws a command-line error if a flag's value is invalid.
  func checkFlags() throws {
    var reader = CommandSettingsReader()
    try reader.read(flags)
  }

  /// The settings from flags, variables and the configuration file.
  func settings() throws -> CommandSettings {
    var reader = CommandSettingsReader()
    try reader.read(flags, config: config.config)
    return reader.settings
  }
}

/// The flag for the configuration file.
struct ConfigurationFile: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "CommandSettings file, a JSON object of settings [WAYBRIDGE_CONFIG]",
      valueName: "file"), completion: .json)
  var config: String?
}

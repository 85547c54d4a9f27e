import ArgumentParser

/// A command with settings.
protocol ConfigurableCommand: AsyncParsableCommand {
  var config: ConfigurationFile { get }
  /// The values of the flags for settings, by the settings' keys; nil if a flag was not given.
  var flags: KeyValuePairs<String, String?> { get }
}

extension ConfigurableCommand {
  mutating func validate() throws { try checkFlags() }

  /// Throws a command-line error if a flag's value is invalid.
  func checkFlags() throws {
    var settings = CommandSettings()
    try settings.apply(flags)
  }

  /// The settings from flags, variables and the configuration file.
  func settings() throws -> CommandSettings {
    try CommandSettings(flags: flags, config: config.config)
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

extension ArgumentHelp {
  /// The help of a setting's flag, with its initial value and its variable.
  static func setting(_ key: String, valueName: String? = nil) -> ArgumentHelp {
    guard let setting = CommandSetting.named(key) else { return ArgumentHelp(visibility: .hidden) }
    let initial = setting.initialValue.map { " (default: \($0))" } ?? ""
    return ArgumentHelp(
      "\(setting.help)\(initial) [\(setting.environmentVariable)]", valueName: valueName)
  }
}

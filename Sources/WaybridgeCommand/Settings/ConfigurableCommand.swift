import ArgumentParser

/// A command that has settings.
protocol ConfigurableCommand: AsyncParsableCommand {
  var config: ConfigurationFile { get }
  /// The values of the flags for settings, by the settings' keys; nil where a flag was not given.
  var flags: KeyValuePairs<String, String?> { get }
}

extension ConfigurableCommand {
  mutating func validate() throws { try checkFlags() }

  /// Throws a fault of the command line where a flag's value cannot be taken.
  func checkFlags() throws {
    var settings = Configuration()
    try settings.apply(flags)
  }

  /// What flags, variables and the configuration file say.
  func settings() throws -> Configuration {
    try Configuration(flags: flags, config: config.config)
  }
}

/// The flag that names the configuration file.
struct ConfigurationFile: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A JSON object of settings, overruled by variables and flags. [WAYBRIDGE_CONFIG]",
      valueName: "file"), completion: .json)
  var config: String?
}

extension ArgumentHelp {
  /// The help of a setting's flag, with its initial value and its variable.
  static func setting(_ key: String, valueName: String? = nil) -> ArgumentHelp {
    guard let setting = Setting.named(key) else { return ArgumentHelp(visibility: .hidden) }
    let initial = setting.initialValue.map { " (default: \($0))" } ?? ""
    return ArgumentHelp("\(setting.help)\(initial) [\(setting.variable)]", valueName: valueName)
  }
}

/// The parts of `--help` that tell of settings.
enum SettingHelp {
  static let sources = """
    A setting is taken from its flag, else from the environment variable in brackets (an empty one \
    counts as absent), else from the configuration file, a JSON object: {"port": 0, "limits": \
    {"maxBatch": 20}}. Its names are those of the flags and variables in camel case; paths in it \
    are seen from its folder.
    """

  /// Two lines for each setting without a flag.
  static var withoutFlag: String {
    Configuration.all.filter { !$0.hasFlag }.map { setting in
      let initial = setting.initialValue.map { " (default: \($0))" } ?? ""
      return "  \(setting.variable)\(initial)\n      \(setting.help)"
    }.joined(separator: "\n")
  }
}

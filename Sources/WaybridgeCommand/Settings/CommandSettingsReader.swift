import ArgumentParser
import Foundation
import WaybridgeClient

/// Reads the settings of a command. Flags override environment variables, which override the
/// configuration file.
struct CommandSettingsReader {
  var settings = CommandSettings()

  /// Reads all sources. The file is `config`, otherwise the value of `WAYBRIDGE_CONFIG`.
  ///
  /// Variables are read for the settings in `flags` without a value and for those that no command
  /// has a flag for; an empty variable counts as absent. Throws every error of the variables or the
  /// file, one a line. Variables with unknown names are errors.
  mutating func read(_ flags: [CommandSettingFlag], config: String?) throws {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    if let file = config ?? environment["WAYBRIDGE_CONFIG"] { try readFile(file) }
    var faults = Self.unknownVariableFaults(environment.keys.sorted())
    for setting in CommandSetting.all {
      let readsVariable =
        !setting.hasFlag || flags.contains { $0.key == setting.key && $0.text == nil }
      guard readsVariable, let text = environment[setting.environmentVariable] else { continue }
      do throws(CommandSetting.SettingError) {
        try setting.set(text, in: &settings)
      } catch {
        faults.append("environment variable \(setting.environmentVariable) \(error.message)")
      }
    }
    guard faults.isEmpty else { throw CommandError(faults.joined(separator: "\n")) }
    try read(flags)
  }

  /// The error for each variable that begins with `WAYBRIDGE_` and is not a setting.
  private static func unknownVariableFaults(_ names: [String]) -> [String] {
    let prefix = "WAYBRIDGE_"
    let known =
      CommandSetting.all.map { String($0.environmentVariable.dropFirst(prefix.count)) } + ["CONFIG"]
    return names.compactMap { variable in
      let name = String(variable.dropFirst(prefix.count))
      guard variable.hasPrefix(prefix), !known.contains(name), !isForeignVariable(variable) else {
        return nil
      }
      let suggestion = NameSuggestion.closest(name, among: known)
      let advice = suggestion.map { "did you mean \(prefix)\($0)?" }
      return "environment variable \(variable) is not a setting; "
        + (advice ?? "see waybridge serve --help and waybridge help limits")
    }
  }

  /// Whether other programs use the variable. Kubernetes sets variables such as
  /// `WAYBRIDGE_SERVICE_HOST` and `WAYBRIDGE_PORT_8080_TCP` for a service named `waybridge`. The
  /// build of Waybridge reads `WAYBRIDGE_COMMIT`.
  private static func isForeignVariable(_ name: String) -> Bool {
    name == "WAYBRIDGE_COMMIT" || name.contains("_SERVICE_") || name.contains("_PORT_")
      || name.hasSuffix("_PORT")
  }

  /// Reads the flags that were given. Throws a command-line error.
  mutating func read(_ flags: [CommandSettingFlag]) throws {
    for flag in flags {
      guard let text = flag.text, let setting = CommandSetting.named(flag.key) else { continue }
      do throws(CommandSetting.SettingError) {
        try setting.set(text, in: &settings)
      } catch {
        throw ValidationError("\(setting.flag) \(error.message)")
      }
    }
  }
}

import ArgumentParser
import Foundation
import WaybridgeClient

extension CommandSettings {
  /// Creates the settings. Flags override environment variables, which override the configuration
  /// file. The file is `config`, otherwise the value of `WAYBRIDGE_CONFIG`.
  ///
  /// Variables are read for the settings in `flags` without a value and for those that no command
  /// has a flag for; an empty variable counts as absent. Throws every error of the variables or the
  /// file, one a line. Variables with unknown names are errors.
  init(flags: KeyValuePairs<String, String?>, config: String?) throws {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    if let file = config ?? environment["WAYBRIDGE_CONFIG"] { try read(file) }
    var faults = Self.unknownVariableFaults(environment.keys.sorted())
    for setting in Self.allSettings {
      let readsVariable =
        !setting.hasFlag || flags.contains { $0.key == setting.key && $0.value == nil }
      guard readsVariable, let text = environment[setting.environmentVariable] else { continue }
      do throws(CommandSetting.SettingError) {
        try setting.set(text, in: &self)
      } catch {
        faults.append("environment variable \(setting.environmentVariable) \(error.message)")
      }
    }
    guard faults.isEmpty else { throw CommandError(faults.joined(separator: "\n")) }
    try apply(flags)
  }

  /// The error for each variable that begins with `WAYBRIDGE_` and is not a setting.
  private static func unknownVariableFaults(_ names: [String]) -> [String] {
    let prefix = "WAYBRIDGE_"
    let known =
      allSettings.map { String($0.environmentVariable.dropFirst(prefix.count)) } + ["CONFIG"]
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

  /// Applies the flags that were given. Throws a command-line error.
  mutating func apply(_ flags: KeyValuePairs<String, String?>) throws {
    for (key, text) in flags {
      guard let text, let setting = CommandSetting.named(key) else { continue }
      do throws(CommandSetting.SettingError) {
        try setting.set(text, in: &self)
      } catch {
        throw ValidationError("\(setting.flag) \(error.message)")
      }
    }
  }
}

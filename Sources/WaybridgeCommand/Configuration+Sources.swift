import ArgumentParser
import Foundation
import WaybridgeClient

extension Configuration {
  /// What flags say over environment variables over the file that `config`, or else
  /// `WAYBRIDGE_CONFIG`, names.
  ///
  /// Variables are read for the settings that `flags` names without a value and for those that no
  /// command has a flag for; one that is empty counts as absent. Throws every fault of the
  /// variables or the file, one a line.
  init(flags: KeyValuePairs<String, String?>, config: String?) throws {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    if let file = config ?? environment["WAYBRIDGE_CONFIG"] { try read(file) }
    var faults: [String] = []
    for setting in Self.all {
      let isAsked = !setting.hasFlag || flags.contains { $0.key == setting.key && $0.value == nil }
      guard isAsked, let text = environment[setting.variable] else { continue }
      do throws(Setting.Fault) {
        try setting.set(text, in: &self)
      } catch {
        faults.append("The environment variable \(setting.variable) \(error.text)")
      }
    }
    guard faults.isEmpty else { throw CommandError(faults.joined(separator: "\n")) }
    try apply(flags)
  }

  /// Takes the flags that were given. Throws a fault of the command line.
  mutating func apply(_ flags: KeyValuePairs<String, String?>) throws {
    for (key, text) in flags {
      guard let text, let setting = Setting.named(key) else { continue }
      do throws(Setting.Fault) {
        try setting.set(text, in: &self)
      } catch {
        throw ValidationError("\(setting.flag) \(error.text)")
      }
    }
  }
}

import ArgumentParser
import Foundation
import Waybridge

/// One setting, with one name everywhere. The key `tokenFile` is the flag `--token-file` if a
/// command has it, the variable `WAYBRIDGE_TOKEN_FILE`, and the member `tokenFile` of a
/// configuration file. `limits.maxBatch` is the member `maxBatch` of the file's object `limits`.
struct CommandSetting: Sendable {
  /// The type of a setting's values, and the property that stores them.
  enum SettingKind: Sendable {
    typealias SettingPath<Value> = WritableKeyPath<CommandSettings, Value> & Sendable

    case string(SettingPath<String>)
    /// The path of a file or folder; in a configuration file it is relative to that file's folder.
    case path(SettingPath<String?>)
    case choice(SettingPath<String>, [String])
    /// A string with a required format.
    case validatedString(SettingPath<String>, ConfigurationAccessSyntax)
    /// Strings with a required format: separated by commas in a variable, an array in a
    /// configuration file, and one or several values for a flag.
    case strings(SettingPath<[String]>, ConfigurationAccessSyntax)
    case integer(SettingPath<Int>, ClosedRange<Int>)
    /// Whole seconds.
    case seconds(SettingPath<Duration>, ClosedRange<Int>)
    /// If it is inverted, the value `true` of the setting is stored as `false`.
    case boolean(SettingPath<Bool>, isInverted: Bool = false)
    case limit(Limits.LimitDefinition.LimitProperty)
  }

  let key: String
  let kind: SettingKind
  /// The name of the flag's value in the help; nil for the name of the flag.
  let valueName: String?
  /// What a shell completes after the flag.
  let completion: CompletionKind
  let parsing: SingleValueParsingStrategy
  let help: String

  init(
    _ key: String, _ kind: SettingKind, value valueName: String? = nil,
    completion: CompletionKind = .nothing, parsing: SingleValueParsingStrategy = .next,
    _ help: String
  ) {
    self.key = key
    self.kind = kind
    self.valueName = valueName
    self.completion = if case .choice(_, let choices) = kind { .list(choices) } else { completion }
    self.parsing = parsing
    self.help = help
  }

  var environmentVariable: String { "WAYBRIDGE_" + joinedKey("_").uppercased() }

  /// Whether commands may have a flag for the setting; limits have none.
  var hasFlag: Bool { !key.hasPrefix("limits.") }

  var flag: String { "--" + joinedKey("-").lowercased() }

  private func joinedKey(_ separator: String) -> String {
    key.map { $0 == "." ? separator : $0.isUppercase ? separator + String($0) : String($0) }
      .joined()
  }
}

extension CommandSetting {
  /// The reason why a value is invalid, to follow the name of its source: "must be …, not …".
  struct SettingError: Error {
    let message: String
  }

  /// Sets a value from the string of a flag or a variable.
  func set(_ text: String, in settings: inout CommandSettings) throws(SettingError) {
    switch kind {
    case .string(let path): settings[keyPath: path] = text
    case .path(let path): settings[keyPath: path] = text
    case .choice(let path, let choices):
      guard choices.contains(text) else {
        throw SettingError(
          message: "must be one of \(choices.joined(separator: ", ")), not \(quoted(text))")
      }
      settings[keyPath: path] = text
    case .validatedString(let path, let syntax):
      try Self.check(text, syntax)
      settings[keyPath: path] = text
    case .strings(let path, let syntax):
      let parts =
        text.isEmpty
        ? []
        : text.components(separatedBy: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }
      for part in parts { try Self.check(part, syntax) }
      settings[keyPath: path] = parts
    case .integer(let path, let range):
      settings[keyPath: path] = try Self.integer(text, range)
    case .seconds(let path, let range):
      settings[keyPath: path] = .seconds(try Self.integer(text, range))
    case .limit(.count(let path, let range)):
      settings.bridge.limits[keyPath: path] = try Self.integer(text, range)
    case .limit(.time(let path)):
      settings.bridge.limits[keyPath: path] = .milliseconds(
        try Self.integer(text, Limits.LimitDefinition.millisecondRange))
    case .boolean(let path, let isInverted):
      guard text == "true" || text == "false" else {
        throw SettingError(message: "must be true or false, not \(quoted(text))")
      }
      settings[keyPath: path] = (text == "true") != isInverted
    }
  }

  private static func check(_ text: String, _ syntax: ConfigurationAccessSyntax)
    throws(SettingError)
  {
    if let expected = syntax.unmetRequirement(of: text) {
      throw SettingError(message: "must be \(expected), not \(quoted(text))")
    }
  }

  private static func integer(_ text: String, _ range: ClosedRange<Int>) throws(SettingError) -> Int
  {
    guard let number = Int(text), range.contains(number) else {
      throw SettingError(
        message:
          "must be an integer from \(range.lowerBound) to \(range.upperBound), not \(quoted(text))")
    }
    return number
  }

  /// The default value in brackets, for the help; empty if there is none.
  var initialText: String { initialValue.map { " (default: \($0))" } ?? "" }

  /// The settings without any source, which the help of each setting shows.
  private static let initialSettings = CommandSettings()

  private var initialValue: String? {
    let settings = Self.initialSettings
    return switch kind {
    case .choice(let path, _): settings[keyPath: path]
    case .string(let path), .validatedString(let path, _):
      settings[keyPath: path].isEmpty ? nil : settings[keyPath: path]
    case .strings: nil
    case .path(let path): settings[keyPath: path]
    case .integer(let path, _): String(settings[keyPath: path])
    case .seconds(let path, _): String(settings[keyPath: path].components.seconds)
    case .limit(.count(let path, _)): String(settings.bridge.limits[keyPath: path])
    case .limit(.time(let path)):
      String(Int(settings.bridge.limits[keyPath: path] / .milliseconds(1)))
    case .boolean: nil
    }
  }
}

extension CompletionKind {
  /// Completes nothing, not even files.
  static let nothing = CompletionKind.list([])

  static let json = CompletionKind.file(extensions: ["json"])

  /// The methods that the OpenRPC document of servers describes.
  static let method = CompletionKind.custom { _, _, _ in BridgeServer.methods }

  /// The topics of events that PROTOCOL.md lists.
  static let topic = CompletionKind.list(["page.*", "route.*", "session.*", "task.*"])
}

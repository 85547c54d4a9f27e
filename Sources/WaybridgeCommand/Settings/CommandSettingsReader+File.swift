import Foundation
import WaybridgeClient
import WaybridgeTables

extension CommandSettingsReader {
  /// Reads a configuration file: a JSON object of settings.
  mutating func readFile(_ file: String) throws(CommandError) {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw CommandError(
        "the configuration file \(quoted(file)) cannot be read; check the path of --config")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandError("the configuration file \(quoted(file)) is not UTF-8")
    }
    let document: Value
    do throws(InvalidJSON) {
      document = try Value(json: text)
    } catch {
      throw CommandError(
        CommandJSONLocations(text).added(
          to: "the configuration file \(quoted(file)) is not JSON: \(error)"))
    }
    guard let members = document.object else {
      throw CommandError(
        "the configuration file \(quoted(file)) must contain a JSON object, not "
          + document.kindWithArticle)
    }
    var faults: [String] = []
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    applyMembers(members, below: "", folder: folder, faults: &faults)
    guard faults.isEmpty else {
      throw CommandError(
        "the configuration file \(quoted(file)) has invalid settings:\n"
          + faults.joined(separator: "\n"))
    }
  }

  private mutating func applyMembers(
    _ members: ValueObject, below prefix: String, folder: URL, faults: inout [String]
  ) {
    for member in members.members {
      let key = prefix + member.name
      if !member.name.contains("."), let setting = CommandSetting.named(key) {
        do throws(CommandSetting.SettingError) {
          try setting.set(setting.text(of: member.value, folder: folder), in: &settings)
        } catch {
          faults.append("\(key) \(error.message)")
        }
      } else if CommandSetting.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
        if let group = member.value.object {
          applyMembers(group, below: key + ".", folder: folder, faults: &faults)
        } else {
          faults.append("\(key) must be an object, not \(member.value.kindWithArticle)")
        }
      } else {
        faults.append("\(quoted(key)) is not a setting; \(Self.advice(forKey: key))")
      }
    }
  }
}

extension CommandSettingsReader {
  /// The advice for a key that is not a setting.
  private static func advice(forKey key: String) -> String {
    if CommandSetting.named(key) != nil {
      return "write it as a member of an object, without the dot"
    }
    return NameSuggestion.closest(key, among: CommandSetting.all.map(\.key))
      .map { "did you mean \(quoted($0))?" } ?? "see waybridge serve --help"
  }
}

extension CommandSetting {
  /// The string for a value in a file, which must have the JSON type of the setting.
  fileprivate func text(of value: Value, folder: URL) throws(SettingError) -> String {
    switch (kind, value) {
    case (.path, .string(let path)) where TableURL.hasURLScheme(in: path): return path
    case (.path, .string(let path)): return URL(fileURLWithPath: path, relativeTo: folder).path
    case (.string, .string(let text)), (.choice, .string(let text)),
      (.validatedString, .string(let text)):
      return text
    case (.strings, .array(let values)):
      return try values.map { value throws(SettingError) in
        guard let text = value.string else {
          throw SettingError(
            message: "must be an array of strings, and contains \(value.kindWithArticle)")
        }
        return text
      }.joined(separator: ",")
    case (.integer, .integer(let number)), (.seconds, .integer(let number)),
      (.limit, .integer(let number)):
      return String(number)
    case (.integer, .number(let number)), (.seconds, .number(let number)),
      (.limit, .number(let number)):
      return number.digits
    case (.boolean, .bool(let isTrue)): return isTrue ? "true" : "false"
    default:
      throw SettingError(message: "must be \(jsonType), not \(value.kindWithArticle)")
    }
  }

  private var jsonType: String {
    switch kind {
    case .string, .path, .choice, .validatedString: "a string"
    case .strings: "an array of strings"
    case .integer, .seconds, .limit: "a number"
    case .boolean: "a boolean"
    }
  }
}

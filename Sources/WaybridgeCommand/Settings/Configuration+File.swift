import Foundation
import WaybridgeClient
import WaybridgeTables

extension Configuration {
  /// Takes what a configuration file says: a JSON object of settings.
  mutating func read(_ file: String) throws(CommandError) {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw CommandError("The configuration file \(file) cannot be read: is there such a file?")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandError("The configuration file \(file) is not UTF-8")
    }
    let document: Value
    do throws(InvalidJSON) {
      document = try Value(json: text)
    } catch {
      throw CommandError("The configuration file \(file) is not JSON: \(error)")
    }
    guard let members = document.object else {
      throw CommandError(
        "The configuration file \(file) must hold a JSON object, not \(document.kindWithArticle)")
    }
    var faults: [String] = []
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    take(members, below: "", folder: folder, faults: &faults)
    guard faults.isEmpty else {
      throw CommandError(
        "The configuration file \(file) is wrong:\n" + faults.joined(separator: "\n"))
    }
  }

  private mutating func take(
    _ members: ValueObject, below prefix: String, folder: URL, faults: inout [String]
  ) {
    for member in members.members {
      let key = prefix + member.name
      if !member.name.contains("."), let setting = Setting.named(key) {
        do throws(Setting.Fault) {
          try setting.set(setting.text(of: member.value, folder: folder), in: &self)
        } catch {
          faults.append("\(key) \(error.text)")
        }
      } else if Self.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
        if let group = member.value.object {
          take(group, below: key + ".", folder: folder, faults: &faults)
        } else {
          faults.append("\(key) must be an object, not \(member.value.kindWithArticle)")
        }
      } else {
        faults.append("\(quoted(key)) is no setting; see waybridge serve --help")
      }
    }
  }
}

extension Setting {
  /// The text of a value in a file, which must be of the JSON type that the setting has.
  fileprivate func text(of value: Value, folder: URL) throws(Fault) -> String {
    switch (kind, value) {
    case (.path, .string(let path)) where TableURL.isMeant(by: path): return path
    case (.path, .string(let path)): return URL(fileURLWithPath: path, relativeTo: folder).path
    case (.text, .string(let text)), (.choice, .string(let text)), (.formed, .string(let text)):
      return text
    case (.list, .list(let values)):
      return try values.map { value throws(Fault) in
        guard let text = value.string else {
          throw Fault(text: "must be an array of strings, and holds \(value.kindWithArticle)")
        }
        return text
      }.joined(separator: ",")
    case (.integer, .integer(let number)), (.milliseconds, .integer(let number)):
      return String(number)
    case (.integer, .number(let number)), (.milliseconds, .number(let number)):
      return number.digits
    case (.truth, .bool(let truth)): return truth ? "true" : "false"
    default:
      throw Fault(text: "must be \(jsonType), not \(value.kindWithArticle)")
    }
  }

  private var jsonType: String {
    switch kind {
    case .text, .path, .choice, .formed: "a string"
    case .list: "an array of strings"
    case .integer, .milliseconds: "a number"
    case .truth: "a boolean"
    }
  }
}

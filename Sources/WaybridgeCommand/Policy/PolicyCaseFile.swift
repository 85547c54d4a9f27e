import Foundation
import Waybridge
import WaybridgeClient

/// The rows that a policy is held against.
enum PolicyCaseFile {
  private static let maxSize = 1 << 20

  /// Reads a file, or standard input for `-`: an array, or one row a line. Throws every fault, with
  /// the number of its row, an `expect` among them that is none of `verdicts`.
  static func read(_ path: String, _ verdicts: Set<String>) throws(CommandError) -> [PolicyCase] {
    let name = path == "-" ? "The cases of standard input" : "The cases \(path)"
    var cases: [PolicyCase] = []
    var faults: [String] = []
    for (index, value) in try rows(of: text(path, name), name).enumerated() {
      let row = "row \(index + 1): "
      do {
        let found = try PolicyCase(parsing: value)
        if !verdicts.contains(found.expected) {
          faults.append(
            row + "$.expect: \(quoted(found.expected)) is no rule of the policy; known here: "
              + verdicts.sorted().joined(separator: ", "))
        }
        cases.append(found)
      } catch {
        faults += error.faults.map { row + $0.description }
      }
    }
    guard faults.isEmpty else {
      throw CommandError("\(name) are wrong:\n" + faults.joined(separator: "\n"))
    }
    guard !cases.isEmpty else { throw CommandError("\(name) have no row") }
    return cases
  }

  private static func text(_ path: String, _ name: String) throws(CommandError) -> String {
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else {
      throw CommandError("\(name) cannot be read: is there such a file?")
    }
    let data: Data
    do { data = try file.read(upToCount: maxSize + 1) ?? Data() } catch {
      throw CommandError("\(name) cannot be read: \(error.localizedDescription)")
    }
    guard data.count <= maxSize else {
      throw CommandError("\(name) are longer than \(maxSize) bytes")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandError("\(name) are not UTF-8")
    }
    return text
  }

  private static func rows(of text: String, _ name: String) throws(CommandError) -> [Value] {
    if text.first(where: { !$0.isWhitespace }) == "[" {
      guard let rows = try value(text, "\(name) are").list else { return [] }
      return rows
    }
    let lines = text.split { $0 == "\n" || $0 == "\r\n" }
      .filter { !$0.allSatisfy(\.isWhitespace) }
    var rows: [Value] = []
    for (index, line) in lines.enumerated() {
      rows.append(try value(String(line), "\(name) are wrong: row \(index + 1) is"))
    }
    return rows
  }

  private static func value(_ text: String, _ subject: String) throws(CommandError) -> Value {
    do throws(InvalidJSON) {
      return try Value(json: text)
    } catch {
      throw CommandError("\(subject) not JSON: \(error)")
    }
  }
}

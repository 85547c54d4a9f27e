import Foundation
import Waybridge
import WaybridgeClient

/// Reads the test cases of a policy.
enum PolicyCaseFile {
  private static let maxSize = 1 << 20

  /// Reads a file, or standard input for `-`: an array, or one row a line. Throws every error with
  /// the number of its row, including an `expect` that is not in `verdicts`.
  static func read(_ path: String, _ verdicts: Set<String>) throws(CommandError) -> [PolicyCase] {
    let name = path == "-" ? "the cases of standard input" : "the cases \(quoted(path))"
    var cases: [PolicyCase] = []
    var faults: [String] = []
    for (index, value) in try rows(of: contents(path, name), name).enumerated() {
      let row = "row \(index + 1): "
      do {
        let policyCase = try PolicyCase(parsing: value)
        if !verdicts.contains(policyCase.expected) {
          faults.append(
            row + "$.expect: \(quoted(policyCase.expected)) is not a rule of the policy; "
              + "use one of " + verdicts.sorted().joined(separator: ", "))
        }
        cases.append(policyCase)
      } catch {
        faults += error.faults.map { row + $0.description }
      }
    }
    guard faults.isEmpty else {
      throw CommandError("\(name) are invalid:\n" + faults.joined(separator: "\n"))
    }
    guard !cases.isEmpty else { throw CommandError("\(name) have no row; give at least one") }
    return cases
  }

  private static func contents(_ path: String, _ name: String) throws(CommandError) -> String {
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else {
      throw CommandError("\(name) cannot be read; check the path")
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
      guard let rows = try value(text, "\(name) are").array else { return [] }
      return rows
    }
    let lines = text.split { $0 == "\n" || $0 == "\r\n" }
      .filter { !$0.allSatisfy(\.isWhitespace) }
    var rows: [Value] = []
    for (index, line) in lines.enumerated() {
      rows.append(try value(String(line), "\(name) are invalid: row \(index + 1) is"))
    }
    return rows
  }

  private static func value(_ text: String, _ subject: String) throws(CommandError) -> Value {
    do throws(InvalidJSON) {
      return try Value(json: text)
    } catch {
      throw CommandError(CommandJSONLocations(text).added(to: "\(subject) not JSON: \(error)"))
    }
  }
}

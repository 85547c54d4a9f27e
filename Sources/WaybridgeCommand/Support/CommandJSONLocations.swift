import Foundation
import Waybridge

/// Adds lines and columns to messages about a JSON document, which name byte offsets and paths.
struct CommandJSONLocations {
  private let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Reads the document in a file. A file that cannot be read again, such as a pipe, counts as
  /// empty: messages about it stay unchanged.
  init(inFile path: String) {
    bytes = (try? BoundedServerFile(path, limit: 16 << 20, isRegular: true).read().bytes) ?? []
  }

  /// Runs a function that reads the JSON file at `path`. Throws its error as ``CommandError``, with
  /// lines and columns.
  @discardableResult
  static func locating<Result>(
    inFile path: String, _ body: () throws -> Result
  ) throws(CommandError) -> Result {
    do {
      return try body()
    } catch {
      throw CommandError(CommandJSONLocations(inFile: path).added(to: "\(error)"))
    }
  }

  /// Replaces "byte 17: " by "line 2, column 5: ", and appends the location to each line that
  /// begins with a path.
  func added(to message: String) -> String {
    message.components(separatedBy: "\n").map { addedToLine($0) }.joined(separator: "\n")
  }

  private func addedToLine(_ line: String) -> String {
    if line.hasPrefix("$") {
      guard let end = line.range(of: ": "),
        let steps = CommandJSONPathStep.steps(of: String(line[..<end.lowerBound])), !bytes.isEmpty
      else { return line }
      var finder = CommandJSONPlaceFinder(bytes)
      return "\(line) (\(location(of: finder.offset(of: steps[...]))))"
    }
    guard let word = line.range(of: "byte ") else { return line }
    let digits = line[word.upperBound...].prefix { $0.isASCII && $0.isNumber }
    let rest = line[digits.endIndex...]
    guard let offset = Int(digits), offset <= bytes.count, rest.hasPrefix(": ") else { return line }
    return "\(line[..<word.lowerBound])\(location(of: offset))\(rest)"
  }

  /// The line and the column of an offset, both from 1; columns count characters of UTF-8.
  private func location(of offset: Int) -> String {
    let before = bytes.prefix(max(0, offset))
    let lineFeed = UInt8(ascii: "\n")
    let lineStart = before.lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
    let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    return "line \(before.count { $0 == lineFeed } + 1), column \(column)"
  }
}

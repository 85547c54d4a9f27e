import WaybridgeClient

/// Finds values in a text that is valid JSON.
struct CommandJSONPlaceFinder {
  private static let quote = UInt8(ascii: "\"")
  private static let separators = Set(" \t\r\n,:".utf8)
  private static let openings = Set("{[".utf8)
  private static let closings = Set("}]".utf8)

  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the offset of the value at a path; of a member, the offset of its name. If the path
  /// leads to no value, returns the offset of the last value on it.
  mutating func offset(of steps: ArraySlice<CommandJSONPathStep>) -> Int {
    skipSeparators()
    let start = index
    guard let step = steps.first, let opening = current, Self.openings.contains(opening) else {
      return start
    }
    index += 1
    var number = 0
    while true {
      skipSeparators()
      guard let byte = current, !Self.closings.contains(byte) else { return start }
      let place = index
      let found: CommandJSONPathStep =
        opening == UInt8(ascii: "{") ? .member(readString()) : .element(number)
      if found == step {
        return steps.count == 1 ? place : offset(of: steps.dropFirst())
      }
      skipValue()
      number += 1
    }
  }

  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSeparators() {
    while let byte = current, Self.separators.contains(byte) { index += 1 }
  }

  private mutating func readString() -> String {
    let start = index
    skipValue()
    let text = String(decoding: bytes[start..<min(index, bytes.count)], as: UTF8.self)
    return (try? Value(json: text))?.string ?? ""
  }

  private mutating func skipValue() {
    skipSeparators()
    var depth = 0
    var isInString = false
    while let byte = current {
      if isInString {
        if byte == UInt8(ascii: "\\") {
          index += 1
        } else if byte == Self.quote {
          isInString = false
        }
      } else if byte == Self.quote {
        isInString = true
      } else if Self.openings.contains(byte) {
        depth += 1
      } else if Self.closings.contains(byte) {
        // A number or a word ends before the end of its array or object.
        if depth == 0 { return }
        depth -= 1
      } else if depth == 0, Self.separators.contains(byte) {
        return
      }
      index += 1
      let isEnd = byte == Self.quote || Self.closings.contains(byte)
      if isEnd, depth == 0, !isInString { return }
    }
  }
}

/// A path in a document: `$.routes[3].pattern`, after RFC 9535.
package struct JSONPath: Sendable, CustomStringConvertible {
  /// The text of the path.
  package let description: String

  /// The document itself.
  package static let root = JSONPath(description: "$")

  /// Returns the path of a member of the object at this path.
  package func member(_ name: String) -> JSONPath {
    let plain =
      name.utf8.first.map { !Self.isDigit($0) } == true
      && name.utf8.allSatisfy { Self.isDigit($0) || Self.isLetter($0) || $0 == UInt8(ascii: "_") }
    if plain { return JSONPath(description: "\(description).\(name)") }
    var quoted = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "'", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..."\u{1f}": quoted += scalar.escaped(asASCII: true)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return JSONPath(description: "\(description)['\(quoted)']")
  }

  /// Returns the path of an element of the array at this path, from 0.
  package func element(_ index: Int) -> JSONPath {
    JSONPath(description: "\(description)[\(index)]")
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

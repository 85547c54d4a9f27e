import WayValues

/// The name of a tool: the name of its route, if that is valid in the Model Context Protocol.
package struct AgentToolName: Sendable, Hashable {
  /// The maximum number of characters.
  static let maxLength = 64
  /// The tools that stand in for a long list, whose names no route has.
  static let reserved: Set<String> = ["search", "describe"]

  /// The name: letters, digits, `_`, `-` and `.`.
  package let text: String

  /// Makes the name of a route's tool. Other characters become `_`, and a name that is changed ends
  /// with a hash of the original, so that two routes have different names.
  package init(ofRoute name: String) {
    let isValid =
      !name.isEmpty && name.utf8.count <= Self.maxLength && name.utf8.allSatisfy(Self.isValid)
      && !Self.reserved.contains(name)
    guard !isValid else {
      text = name
      return
    }
    var hash = StableHash()
    hash.add(name)
    let suffix = "-" + hash.hexString
    let readable = name.unicodeScalars.prefix(Self.maxLength - suffix.utf8.count).map { scalar in
      scalar.isASCII && Self.isValid(UInt8(truncatingIfNeeded: scalar.value))
        ? Character(scalar) : "_"
    }
    text = String(readable) + suffix
  }

  private static func isValid(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// The author's version of a table, in natural order: `9` is before `10`, `1.4` before `1.4.1`, and
/// `3` before `3+1`.
package struct TableVersion: Comparable {
  private enum VersionPart: Equatable {
    /// Digits without leading zeros.
    case number(Substring)
    case text(Substring)
  }

  private let parts: [VersionPart]

  package init(_ text: String) {
    var parts: [VersionPart] = []
    var rest = text[...]
    while let first = rest.first {
      let isNumber = Self.isDigit(first)
      let part = rest.prefix { Self.isDigit($0) == isNumber }
      parts.append(isNumber ? .number(part.drop { $0 == "0" }) : .text(part))
      rest = rest[part.endIndex...]
    }
    self.parts = parts
  }

  package static func < (left: TableVersion, right: TableVersion) -> Bool {
    for (mine, other) in zip(left.parts, right.parts) where mine != other {
      switch (mine, other) {
      case (.number(let mine), .number(let other)):
        return (mine.count, String(mine)) < (other.count, String(other))
      case (.text(let mine), .text(let other)):
        return mine.utf8.lexicographicallyPrecedes(other.utf8)
      // Numbers and text alternate, so `1.4` and `1.4-beta` are not compared here.
      case (.number, .text): return false
      case (.text, .number): return true
      }
    }
    return left.parts.count < right.parts.count
  }

  private static func isDigit(_ character: Character) -> Bool {
    ("0"..."9").contains(character)
  }

  /// The version of a table that was changed without a new version: `3+1` after `3`, `3+2` after
  /// that.
  static func next(after version: String) -> String {
    guard let plus = version.lastIndex(of: "+"),
      let number = UInt32(version[version.index(after: plus)...]), number < .max
    else { return version + "+1" }
    return "\(version[..<plus])+\(number + 1)"
  }
}

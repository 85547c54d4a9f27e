import Waybridge

/// Maps the ids of a recording to those of its replay. A mapping is learned when both have an id in
/// the same place of a message.
struct ReplayIdentifierMap {
  private var replacements: [String: String] = [:]

  /// Maps a recorded id to an actual one.
  mutating func addMapping(_ recorded: String, _ actual: String) {
    replacements[recorded] = actual
  }

  /// Returns a recorded message with the ids of the replay.
  func translated(_ value: Value) -> Value {
    switch value {
    case .string(let text): .string(replacements[text] ?? text)
    case .array(let values): .array(values.map(translated))
    case .object(let object):
      .object(ValueObject(object.members.map { ($0.name, translated($0.value)) }))
    case .null, .bool, .integer, .number: value
    }
  }

  /// Returns the differences between a message and the recorded one, a line for each place; learns
  /// ids meanwhile. Different timestamps, in milliseconds since 1970, and different tokens count as
  /// equal.
  mutating func differences(
    from recorded: Value, to actual: Value, at path: String, isError: Bool = false
  ) -> [String] {
    switch (recorded, actual) {
    case (.string(let old), .string(let new)): return differences(old, new, path)
    case (.array(let old), .array(let new)):
      guard old.count == new.count else {
        return ["\(path): \(old.count) values have become \(new.count)"]
      }
      var found: [String] = []
      for (index, pair) in zip(old, new).enumerated() {
        found += differences(from: pair.0, to: pair.1, at: "\(path)[\(index)]")
      }
      return found
    case (.object(let old), .object(let new)):
      var found: [String] = []
      for member in old.members where !(isError && member.name == "message") {
        if let value = new[member.name] {
          found += differences(
            from: member.value, to: value, at: "\(path).\(member.name)")
        } else {
          found.append("\(path).\(member.name) is missing; it was \(member.value.abbreviated)")
        }
      }
      for member in new.members where old[member.name] == nil {
        found.append("\(path).\(member.name) is new: \(member.value.abbreviated)")
      }
      return found
    default:
      if recorded == actual || recorded.isTimestamp && actual.isTimestamp { return [] }
      return ["\(path): \(recorded.abbreviated) has become \(actual.abbreviated)"]
    }
  }

  private mutating func differences(_ old: String, _ new: String, _ path: String) -> [String] {
    if let known = replacements[old] {
      return known == new ? [] : ["\(path): \(new) instead of \(known), the new id of \(old)"]
    }
    if old == new || old == "…" { return [] }
    if let form = Self.identifierKind(old), form == Self.identifierKind(new) {
      replacements[old] = new
      return []
    }
    return ["\(path): \(Value.string(old).abbreviated) has become \(Value.string(new).abbreviated)"]
  }

  /// The kind of id that a string is; nil if it is not an id.
  private static func identifierKind(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    if bytes.count > 12, text.hasPrefix("s-") || text.hasPrefix("c-") {
      return String(text.prefix(2))
    }
    guard bytes.first == UInt8(ascii: "p"), bytes.count > 1,
      bytes.dropFirst().allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") })
    else { return nil }
    return "p"
  }
}

extension Value {
  /// Whether the value is a time of this century, in milliseconds since 1970.
  fileprivate var isTimestamp: Bool {
    guard let number = double else { return false }
    return (1e12...4e12).contains(number)
  }

  /// The JSON text, at most 80 characters.
  fileprivate var abbreviated: String {
    let text = text
    return text.count <= 80 ? text : "\(text.prefix(79))…"
  }
}

import Waybridge

/// What stands for the ids of a recording in its replay, learned where the same place of a message
/// holds one of each.
struct ReplayIdentifierMap {
  private var standIns: [String: String] = [:]

  /// From now on one id stands for another.
  mutating func learn(_ recorded: String, _ actual: String) {
    standIns[recorded] = actual
  }

  /// A message of the recording as it is to be sent.
  func translated(_ value: Value) -> Value {
    switch value {
    case .string(let text): .string(standIns[text] ?? text)
    case .list(let values): .list(values.map(translated))
    case .object(let object):
      .object(ValueObject(object.members.map { ($0.name, translated($0.value)) }))
    case .null, .bool, .integer, .number: value
    }
  }

  /// In what a message differs from the recorded one, a line for each place; ids are learned on the
  /// way. Moments, in milliseconds since 1970, and tokens are as good as any others.
  mutating func differences(
    from recorded: Value, to actual: Value, at path: String, isError: Bool = false
  ) -> [String] {
    switch (recorded, actual) {
    case (.string(let old), .string(let new)): return differences(old, new, path)
    case (.list(let old), .list(let new)):
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
          found.append("\(path).\(member.name) is missing; it was \(member.value.short)")
        }
      }
      for member in new.members where old[member.name] == nil {
        found.append("\(path).\(member.name) is new: \(member.value.short)")
      }
      return found
    default:
      if recorded == actual || recorded.isMoment && actual.isMoment { return [] }
      return ["\(path): \(recorded.short) has become \(actual.short)"]
    }
  }

  private mutating func differences(_ old: String, _ new: String, _ path: String) -> [String] {
    if let known = standIns[old] {
      return known == new ? [] : ["\(path): \(known) would be \(old), and it is \(new)"]
    }
    if old == new || old == "…" { return [] }
    if let form = Self.form(old), form == Self.form(new) {
      standIns[old] = new
      return []
    }
    return ["\(path): \(Value.string(old).short) has become \(Value.string(new).short)"]
  }

  /// What kind of id a text is; nil for none.
  private static func form(_ text: String) -> String? {
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
  /// Milliseconds since 1970, of this century.
  fileprivate var isMoment: Bool {
    guard let number = double else { return false }
    return (1e12...4e12).contains(number)
  }

  /// At most 80 characters of it.
  fileprivate var short: String {
    let text = text
    return text.count <= 80 ? text : "\(text.prefix(79))…"
  }
}

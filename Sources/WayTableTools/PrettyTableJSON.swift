import WayValues

/// Formats JSON for people: one member a line, short arrays and objects on one line.
enum PrettyTableJSON {
  private static let maxWidth = 100

  /// The value, without a line end.
  static func text(_ value: Value) -> String { text(value, indentation: "", before: 0) }

  private static func text(_ value: Value, indentation: String, before: Int) -> String {
    let line = value.spaced
    if indentation.count + before + line.count <= maxWidth { return line }
    let inner = indentation + "  "
    switch value {
    case .array(let list) where !list.isEmpty:
      let lines = list.map { inner + text($0, indentation: inner, before: 0) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
    case .object(let object) where !object.isEmpty:
      let lines = object.members.map { member in
        let head = "\(Value.string(member.name).text): "
        return inner + head + text(member.value, indentation: inner, before: head.count)
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indentation)}"
    default: return line
    }
  }
}

extension Value {
  /// The value on one line, with spaces after colons and commas.
  fileprivate var spaced: String {
    switch self {
    case .array(let list): "[\(list.map(\.spaced).joined(separator: ", "))]"
    case .object(let object):
      "{\(object.members.map { "\(Value.string($0.name).text): \($0.value.spaced)" }.joined(separator: ", "))}"
    default: text
    }
  }
}

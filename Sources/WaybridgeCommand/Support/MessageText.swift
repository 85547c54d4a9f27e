import WaybridgeClient

/// A text that others chose, for a message: on one line, in quotation marks, and not too long.
func quoted(_ text: String) -> String {
  let limit = 80
  let start = String(text.prefix(limit))
  return (Value.string(start).json ?? "") + (text.count > limit ? "…" : "")
}

extension String {
  /// The text with spaces after it, so that it has at least `count` characters.
  func padding(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}

extension Value {
  /// What kind of value this is, as a sentence has it: `null`, `a number`, `an object`.
  var kindWithArticle: String {
    switch self {
    case .null: kindName
    case .list, .object: "an \(kindName)"
    case .bool, .integer, .number, .string: "a \(kindName)"
    }
  }
}

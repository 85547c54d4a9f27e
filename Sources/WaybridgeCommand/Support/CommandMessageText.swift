import WaybridgeClient

/// Formats a string from others for a message: on one line, in quotation marks, and not too long.
func quoted(_ text: String) -> String {
  let limit = 80
  let start = String(text.prefix(limit))
  return (Value.string(start).json ?? "") + (text.count > limit ? "…" : "")
}

extension String {
  /// Appends spaces, so that the string has at least `count` characters.
  func padding(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}

extension Value {
  /// The kind of the value, with an article: `null`, `a number`, `an object`.
  var kindWithArticle: String {
    switch self {
    case .null: kindName
    case .array, .object: "an \(kindName)"
    case .bool, .integer, .number, .string: "a \(kindName)"
    }
  }
}

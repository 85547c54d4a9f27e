import WayValues

/// The expectations of a transcript: values with `{{name}}`, `{{*}}` and `"...": true`.
struct TranscriptPattern {
  private(set) var captured: [String: Value] = [:]

  /// Why `value` does not match; nil when it does. Names seen for the first time are captured.
  mutating func mismatch(_ expected: Value, _ value: Value, at path: String = "$") -> String? {
    switch (expected, value) {
    case (.string(let text), _) where name(in: text) != nil:
      let name = name(in: text) ?? ""
      if name == "*" { return nil }
      if let known = captured[name] {
        return known == value ? nil : "\(path) is \(value), not the \(name) seen before, \(known)"
      }
      captured[name] = value
      return nil
    case (.object(let expected), .object(let members)):
      return mismatch(expected, members, at: path)
    case (.list(let expected), .list(let values)):
      guard expected.count == values.count else {
        return "\(path) has \(values.count) elements, not \(expected.count)"
      }
      for (index, (wanted, value)) in zip(expected, values).enumerated() {
        if let reason = mismatch(wanted, value, at: "\(path)[\(index)]") { return reason }
      }
      return nil
    default: return expected == value ? nil : "\(path) is \(value), not \(expected)"
    }
  }

  private mutating func mismatch(
    _ expected: ValueObject, _ members: ValueObject, at path: String
  ) -> String? {
    let isOpen = expected["..."] == true
    for wanted in expected.members where wanted.name != "..." {
      let place = "\(path).\(wanted.name)"
      guard let value = members[wanted.name] else { return "\(place) is missing" }
      if let reason = mismatch(wanted.value, value, at: place) { return reason }
    }
    guard !isOpen else { return nil }
    for member in members.members where expected[member.name] == nil {
      return "\(path).\(member.name) is not expected: \(member.value)"
    }
    return nil
  }

  /// The value with captured names put in.
  func fill(_ value: Value) -> Value {
    switch value {
    case .string(let text):
      if let name = name(in: text), let known = captured[name] { return known }
      return .string(fill(text))
    case .list(let values): return .list(values.map(fill))
    case .object(let object):
      return .object(ValueObject(object.members.map { ($0.name, fill($0.value)) }))
    default: return value
    }
  }

  /// Text with captured strings put in.
  func fill(_ text: String) -> String {
    var result = text
    for (name, value) in captured {
      guard case .string(let known) = value else { continue }
      result = result.split(separator: "{{\(name)}}", omittingEmptySubsequences: false)
        .joined(separator: known)
    }
    return result
  }

  /// The name, when the whole text is `{{name}}`.
  private func name(in text: String) -> String? {
    guard text.hasPrefix("{{"), text.hasSuffix("}}"), text.utf8.count > 4 else { return nil }
    let inner = text.dropFirst(2).dropLast(2)
    return inner.contains("{") ? nil : String(inner)
  }
}

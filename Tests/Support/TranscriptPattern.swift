import WayRPC
import WayValues

/// The expectations of a transcript: values with `{{name}}`, `{{*}}` and `"...": true`.
struct TranscriptPattern {
  private(set) var captured: [String: Value] = [:]

  /// Returns why `value` does not match, or `nil` if it does. Captures names at their first
  /// occurrence.
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
    case (.array(let expected), .array(let values)):
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

  /// Returns the value with captured names substituted.
  func fill(_ value: Value) -> Value {
    switch value {
    case .string(let text):
      if let name = name(in: text), let known = captured[name] { return known }
      return .string(fill(text))
    case .array(let values): return .array(values.map(fill))
    case .object(let object):
      return .object(ValueObject(object.members.map { ($0.name, fill($0.value)) }))
    default: return value
    }
  }

  /// Returns the string with captured values substituted; those that are no strings as JSON.
  func fill(_ text: String) -> String {
    var result = text
    for (name, value) in captured {
      guard let known = value.string ?? (try? JSON.text(value)) else { continue }
      result = result.split(separator: "{{\(name)}}", omittingEmptySubsequences: false)
        .joined(separator: known)
    }
    return result
  }

  /// Returns the name if the whole string is `{{name}}`.
  private func name(in text: String) -> String? {
    guard text.hasPrefix("{{"), text.hasSuffix("}}"), text.utf8.count > 4 else { return nil }
    let inner = text.dropFirst(2).dropLast(2)
    return inner.contains("{") ? nil : String(inner)
  }
}

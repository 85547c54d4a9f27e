import WayRPC
import WayValues

/// One entry of a list.
package struct ScreenChoice: Sendable, Equatable {
  package let label: String
  /// The result of the page if this entry is chosen.
  package let value: Value

  package init(_ value: Value, label: String? = nil) {
    self.value = value
    self.label = label ?? value.label
  }
}

extension Value {
  /// Members that describe an object to people.
  private static let labelKeys = ["title", "name", "label"]

  /// The value for people. A string stays unchanged; an object becomes its name and its other
  /// strings.
  package var label: String {
    switch self {
    case .string(let text): return text
    case .bool(let isTrue): return isTrue ? "yes" : "no"
    case .object(let members):
      let name = Self.labelKeys.lazy.compactMap { members[$0]?.string }.first
      let rest = members.members.filter { $0.name != "id" && !Self.labelKeys.contains($0.name) }
        .compactMap { $0.value.string }
      let parts = (name.map { [$0] } ?? []) + rest
      return parts.isEmpty ? jsonText : parts.joined(separator: ", ")
    default: return jsonText
    }
  }

  /// The value as JSON on one line.
  package var jsonText: String { (try? JSON.text(self)) ?? "(nested too deeply)" }
}

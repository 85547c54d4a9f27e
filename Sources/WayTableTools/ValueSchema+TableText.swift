import WayRouting
import WayValues

extension ValueSchema {
  /// The constraints in addition to the type, in words for people: `As date-time`, `1 to 50
  /// characters`.
  var constraints: [String] {
    var facts: [String] = []
    if let format { facts.append("As \(format.rawValue)") }
    if let range = boundsText(range.minimum?.visibleText, range.maximum?.visibleText) {
      facts.append(range)
    }
    let noun = kind == .array ? "elements" : "characters"
    if let count = boundsText(count.minimum.map(String.init), count.maximum.map(String.init)) {
      facts.append("\(count) \(noun)")
    }
    if allowed != nil, kind != .string, kind != .integer, let allowed {
      facts.append("One of \(allowed.map(\.visibleText).joined(separator: ", "))")
    }
    return facts
  }

  private func boundsText(_ least: String?, _ most: String?) -> String? {
    switch (least, most) {
    case (let least?, let most?): "\(least) to \(most)"
    case (let least?, nil): "At least \(least)"
    case (nil, let most?): "At most \(most)"
    case (nil, nil): nil
    }
  }

  /// The type in a few words: `string`, `array of Address`, `integer or null`.
  var typeDescription: String {
    var words = typeName?.visible ?? kind.rawValue
    if typeName == nil, kind == .array, let items { words += " of \(items.typeDescription)" }
    return isNullable ? words + " or null" : words
  }
}

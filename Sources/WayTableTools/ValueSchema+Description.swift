import WayRouting
import WayValues

extension ValueSchema {
  /// What has to hold beside the type, in words for people: `A date-time`, `1 to 50 characters`.
  var facts: [String] {
    var facts: [String] = []
    if let format { facts.append("As \(format.rawValue)") }
    if let range = words(range.least?.visibleText, range.most?.visibleText) { facts.append(range) }
    let noun = kind == .array ? "elements" : "characters"
    if let count = words(count.least.map(String.init), count.most.map(String.init)) {
      facts.append("\(count) \(noun)")
    }
    if allowed != nil, kind != .string, kind != .integer, let allowed {
      facts.append("One of \(allowed.map(\.visibleText).joined(separator: ", "))")
    }
    return facts
  }

  private func words(_ least: String?, _ most: String?) -> String? {
    switch (least, most) {
    case (let least?, let most?): "\(least) to \(most)"
    case (let least?, nil): "At least \(least)"
    case (nil, let most?): "At most \(most)"
    case (nil, nil): nil
    }
  }

  /// The type in a few words: `string`, `array of Address`, `integer or null`.
  var words: String {
    var words = typeName?.visible ?? kind.rawValue
    if typeName == nil, kind == .array, let items { words += " of \(items.words)" }
    return isNullable ? words + " or null" : words
  }
}

import WayPatterns
import WayValues

/// What is wrong somewhere in a value.
struct SchemaFault {
  /// One step into a value.
  enum Step {
    case member(String)
    case element(Int)
  }

  /// The way there, the last step first: it is put together only where something is wrong.
  var steps: [Step] = []
  let message: String

  /// As the fault of a parameter.
  func fault(of parameter: String) -> PatternParameterFault {
    guard !steps.isEmpty else { return PatternParameterFault(of: parameter, message) }
    let path = steps.reversed().reduce(JSONPath.root.member(parameter.brief)) { path, step in
      switch step {
      case .member(let name): path.member(name.brief)
      case .element(let index): path.element(index)
      }
    }
    return PatternParameterFault(path: path.description, message: message)
  }
}

extension ValueSchema {
  /// How many faults one call is told.
  static let maxFaults = 32

  /// Notes what is wrong with a value, the place of each fault in it included; at most
  /// ``maxFaults``.
  func check(_ value: Value, _ faults: inout [SchemaFault]) {
    guard faults.count < Self.maxFaults else { return }
    if isNullable, value.isNull { return }
    if let fault = fault(of: value) {
      faults.append(SchemaFault(message: fault))
    } else if let items, let list = value.list {
      for (index, element) in list.enumerated() {
        within(.element(index), &faults) { items.check(element, &$0) }
      }
    } else if let object = value.object {
      checkMembers(of: object, &faults)
    }
  }

  private func checkMembers(of object: ValueObject, _ faults: inout [SchemaFault]) {
    for property in properties {
      within(.member(property.name), &faults) { faults in
        if let value = object[property.name] {
          property.schema.check(value, &faults)
        } else if property.isRequired {
          let kind = property.schema.kind.described
          faults.append(SchemaFault(message: "is missing; it has to be \(kind)"))
        }
      }
    }
    guard isClosed else { return }
    for member in object.members
    where !properties.contains(where: { $0.name.isSameUTF8(as: member.name) }) {
      guard faults.count < Self.maxFaults else { return }
      faults.append(
        SchemaFault(
          steps: [.member(member.name)],
          message: "is no member of this object, which takes no others"))
    }
  }

  /// Notes faults that lie one step further in.
  private func within(
    _ step: SchemaFault.Step, _ faults: inout [SchemaFault], _ check: (inout [SchemaFault]) -> Void
  ) {
    let before = faults.count
    guard before < Self.maxFaults else { return }
    check(&faults)
    for index in before..<faults.count { faults[index].steps.append(step) }
  }

  /// What is wrong with a value itself, whatever its elements and members are.
  func fault(of value: Value) -> String? {
    if isNullable, value.isNull { return nil }
    if let fault = kind.fault(of: value) { return fault }
    if let allowed, !allowed.contains(where: { $0.isSame(as: value) }) {
      let words = allowed.prefix(16).map(\.brief).joined(separator: ", ")
      return "has to be one of \(words)\(allowed.count > 16 ? ", …" : "")"
    }
    switch value {
    case .string(let text): return fault(ofText: text)
    case .list(let list): return fault(ofCount: list.count, "element")
    case .integer, .number: return fault(ofNumber: value)
    default: return nil
    }
  }

  private func fault(ofText text: String) -> String? {
    if let format, !format.fits(text) {
      return "has to be \(format.described); '\(text.brief)' is not"
    }
    // Most schemas have no bounds, and then nothing is counted.
    return count == Bounds() ? nil : fault(ofCount: text.unicodeScalars.count, "character")
  }

  private func fault(ofCount found: Int, _ noun: String) -> String? {
    if let least = count.least, found < least {
      return "has to have at least \(counted(least, noun)); it has \(found)"
    }
    if let most = count.most, found > most {
      return "has to have at most \(counted(most, noun)); it has \(found)"
    }
    return nil
  }

  private func fault(ofNumber value: Value) -> String? {
    if let least = range.least, value.isLess(than: least) {
      return "has to be at least \(least.brief); it is \(value.brief)"
    }
    if let most = range.most, most.isLess(than: value) {
      return "has to be at most \(most.brief); it is \(value.brief)"
    }
    return nil
  }

  /// Why the schema makes no sense, whatever it is for.
  package var contradiction: String? {
    for value in allowed ?? [] {
      if let fault = kind.fault(of: value), !(isNullable && value.isNull) {
        return "a default or allowed value \(fault)"
      }
    }
    if let allowed, allowed.isEmpty { return "no value is allowed" }
    if let least = range.least, let most = range.most, most.isLess(than: least) {
      return "nothing is at least \(least.brief) and at most \(most.brief)"
    }
    if let least = count.least, let most = count.most, most < least {
      return "nothing has at least \(least) and at most \(most)"
    }
    return nil
  }
}

private func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

extension ValueSchema.Kind {
  /// What is wrong with a value of this kind; a number that ``integer(of:)`` has a value for is that.
  func fault(of value: Value) -> String? {
    let fits =
      switch (self, value) {
      case (.string, .string), (.boolean, .bool), (.array, .list), (.object, .object): true
      case (.integer, .integer), (.number, .integer), (.number, .number): true
      default: false
      }
    if fits { return nil }
    if case (.integer, .number(let number)) = (self, value), number.isInteger {
      return number.exactly(Int64.self) == nil ? Self.tooWide : nil
    }
    return "has to be \(described); it is \(value.isNull ? "null" : value.kindName.withArticle)"
  }

  /// What is wrong with a number that is an integer all the same.
  private static let tooWide = "is beyond an integer of 64 bits"

  /// The integer that a number which is written otherwise is handed on as; nil for any other value.
  func integer(of value: Value) -> Value? {
    guard self == .integer, case .number(let number) = value else { return nil }
    return number.exactly(Int64.self).map(Value.integer)
  }

  /// What is wrong with text of a path or query that stands for no value.
  func fault(ofText text: String) -> String {
    switch self {
    case .object: "has to be \(described); give it in params"
    case .integer where Number(digits: text)?.isInteger == true: Self.tooWide
    default: "has to be \(described), and '\(text.brief)' is none"
    }
  }

  /// The value that text of a path or query stands for; nil where it stands for none.
  func value(of text: String) -> Value? {
    switch self {
    case .string: return .string(text)
    case .integer: return Number(digits: text)?.exactly(Int64.self).map(Value.integer)
    case .number:
      return Int64(text).map(Value.integer) ?? Number(digits: text).map(Value.number)
    case .boolean:
      switch text {
      case "true", "1", "": return true
      case "false", "0": return false
      default: return nil
      }
    case .array: return [.string(text)]
    case .object: return nil
    }
  }

  var described: String { rawValue.withArticle }
}

extension ValueSchema {
  /// The value that text of a path or query stands for, and the elements of a list of such texts;
  /// what stands for none stays text, which the check then tells.
  func value(ofText value: Value) -> Value {
    switch value {
    case .string(let text):
      guard kind == .array else { return kind.value(of: text) ?? value }
      return [items?.value(ofText: value) ?? value]
    case .list(let list) where kind == .array:
      guard let items else { return value }
      return .list(list.map(items.value(ofText:)))
    default: return value
    }
  }
}

extension String {
  fileprivate var withArticle: String {
    "aeiou".unicodeScalars.contains(unicodeScalars.first ?? "x") ? "an \(self)" : "a \(self)"
  }
}

extension Value {
  /// Whether both are the same, numbers by their value.
  fileprivate func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
      number.double == Double(integer)
    case (.number(let left), .number(let right)): left == right || left.double == right.double
    default: self == other
    }
  }

  /// Of numbers only; false for anything else.
  fileprivate func isLess(than other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    default:
      if let left = double, let right = other.double { left < right } else { false }
    }
  }
}

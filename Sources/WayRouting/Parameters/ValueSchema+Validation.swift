import WayPatterns
import WayValues

/// A fault at some path in a value.
struct SchemaFault {
  /// One step of a path into a value.
  enum FaultPathStep {
    case member(String)
    case element(Int)
  }

  /// The path to the fault, last step first: it is only built if there is a fault.
  var steps: [FaultPathStep] = []
  let message: String

  /// Returns the fault as that of a parameter.
  func fault(of parameter: String) -> PatternParameterFault {
    guard !steps.isEmpty else { return PatternParameterFault(of: parameter, message) }
    return fault(at: JSONPath.root.member(parameter.brief))
  }

  /// Returns the fault in a value at a path.
  func fault(at base: JSONPath) -> PatternParameterFault {
    let path = steps.reversed().reduce(base) { path, step in
      switch step {
      case .member(let name): path.member(name.brief)
      case .element(let index): path.element(index)
      }
    }
    return PatternParameterFault(path: path.description, message: message)
  }
}

extension ValueSchema {
  /// The maximum number of faults that are reported for one call.
  static let maxFaults = 32

  /// Appends the faults of a value, each with its path; at most ``maxFaults``.
  func check(_ value: Value, _ faults: inout [SchemaFault]) {
    guard faults.count < Self.maxFaults else { return }
    if isNullable, value.isNull { return }
    if let fault = fault(of: value) {
      faults.append(SchemaFault(message: fault))
    } else if let items, let list = value.array {
      for (index, element) in list.enumerated() {
        within(.element(index), &faults) { items.check(element, &$0) }
      }
    } else if let object = value.object {
      checkProperties(of: object, &faults)
    }
  }

  private func checkProperties(of object: ValueObject, _ faults: inout [SchemaFault]) {
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
          message: "is not a member of this object, which allows no others"))
    }
  }

  /// Appends faults that lie one step deeper.
  private func within(
    _ step: SchemaFault.FaultPathStep, _ faults: inout [SchemaFault],
    _ check: (inout [SchemaFault]) -> Void
  ) {
    let before = faults.count
    guard before < Self.maxFaults else { return }
    check(&faults)
    for index in before..<faults.count { faults[index].steps.append(step) }
  }

  /// Returns the fault of a value itself, regardless of its elements and members.
  func fault(of value: Value) -> String? {
    if isNullable, value.isNull { return nil }
    if let fault = kind.fault(of: value) { return fault }
    if let allowed, !allowed.contains(where: { $0.isSame(as: value) }) {
      let words = allowed.prefix(16).map(\.brief).joined(separator: ", ")
      return "has to be one of \(words)\(allowed.count > 16 ? ", …" : "")"
    }
    switch value {
    case .string(let text): return fault(ofText: text)
    case .array(let list): return fault(ofCount: list.count, "element")
    case .integer, .number: return fault(ofNumber: value)
    default: return nil
    }
  }

  private func fault(ofText text: String) -> String? {
    if let format, !format.fits(text) {
      return "has to be \(format.described), not \"\(text.brief)\""
    }
    // Most schemas have no bounds, and then counting is not needed.
    return count == Bounds() ? nil : fault(ofCount: text.unicodeScalars.count, "character")
  }

  private func fault(ofCount found: Int, _ noun: String) -> String? {
    if let least = count.minimum, found < least {
      return "has to have at least \(counted(least, noun)); it has \(found)"
    }
    if let most = count.maximum, found > most {
      return "has to have at most \(counted(most, noun)); it has \(found)"
    }
    return nil
  }

  private func fault(ofNumber value: Value) -> String? {
    if let least = range.minimum, value.isLess(than: least) {
      return "has to be at least \(least.brief); it is \(value.brief)"
    }
    if let most = range.maximum, most.isLess(than: value) {
      return "has to be at most \(most.brief); it is \(value.brief)"
    }
    return nil
  }

  /// The reason why the schema contradicts itself, for any use; `nil` if it does not.
  package var contradiction: String? {
    for value in allowed ?? [] {
      if let fault = kind.fault(of: value), !(isNullable && value.isNull) {
        return "a default or allowed value \(fault)"
      }
    }
    if let allowed, allowed.isEmpty { return "no value is allowed" }
    if let least = range.minimum, let most = range.maximum, most.isLess(than: least) {
      return "no value is at least \(least.brief) and at most \(most.brief)"
    }
    if let least = count.minimum, let most = count.maximum, most < least {
      return "no value has at least \(least) and at most \(most)"
    }
    return nil
  }
}

private func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

extension ValueSchema.SchemaKind {
  /// Returns the fault of a value that is not of this kind. A number for which ``integer(of:)``
  /// returns a value is an integer.
  func fault(of value: Value) -> String? {
    let fits =
      switch (self, value) {
      case (.string, .string), (.boolean, .bool), (.array, .array), (.object, .object): true
      case (.integer, .integer), (.number, .integer), (.number, .number): true
      default: false
      }
    if fits { return nil }
    if case (.integer, .number(let number)) = (self, value), number.isInteger {
      return number.exactly(Int64.self) == nil ? Self.integerOverflow : nil
    }
    return "has to be \(described); it is \(value.isNull ? "null" : value.kindName.withArticle)"
  }

  /// The fault of an integer that exceeds 64 bits.
  private static let integerOverflow = "is beyond an integer of 64 bits"

  /// Returns the integer for a number in another notation; `nil` for any other value.
  func integer(of value: Value) -> Value? {
    guard self == .integer, case .number(let number) = value else { return nil }
    return number.exactly(Int64.self).map(Value.integer)
  }

  /// Returns the fault of a string of a path or query that stands for no value of this kind.
  func fault(ofText text: String) -> String {
    switch self {
    case .object: "has to be \(described); give it in params"
    case .integer where Number(digits: text)?.isInteger == true: Self.integerOverflow
    default: "has to be \(described), not \"\(text.brief)\""
    }
  }

  /// Returns the value that a string of a path or query stands for; `nil` if it stands for none.
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
  /// Returns the value that a string of a path or query stands for, or the values of an array of
  /// such strings. A string that stands for none stays one, which the check then reports.
  func value(ofText value: Value) -> Value {
    switch value {
    case .string(let text):
      guard kind == .array else { return kind.value(of: text) ?? value }
      return [items?.value(ofText: value) ?? value]
    case .array(let list) where kind == .array:
      guard let items else { return value }
      return .array(list.map(items.value(ofText:)))
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
  /// Whether both are the same; numbers are compared by value.
  fileprivate func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
      number.double == Double(integer)
    case (.number(let left), .number(let right)): left == right || left.double == right.double
    default: self == other
    }
  }

  /// Compares numbers; returns `false` for any other values.
  fileprivate func isLess(than other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    default:
      if let left = double, let right = other.double { left < right } else { false }
    }
  }
}

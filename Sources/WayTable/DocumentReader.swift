import WayValues

/// A reader that collects the errors of a document, up to ``DocumentFaults/limit``, instead of
/// stopping at the first.
package protocol DocumentReader {
  var faults: [DocumentFault] { get set }
}

extension DocumentReader {
  /// Adds an error, unless there are enough.
  package mutating func addFault(_ path: JSONPath, _ message: String) {
    if describesFaults {
      faults.append(DocumentFault(path: path.description, message: message))
    } else if faults.count == DocumentFaults.limit {
      faults.append(
        DocumentFault(
          path: path.description, message: "is wrong too; errors after it are not listed"))
    }
  }

  /// Whether further errors are described.
  package var describesFaults: Bool { faults.count < DocumentFaults.limit }

  /// The object. Members that are not `known` are errors.
  package mutating func object(_ value: Value, at path: JSONPath, known: [String]) -> ValueObject? {
    guard let object = object(value, at: path) else { return nil }
    for name in object.members.map(\.name) where !known.contains(where: name.isSameUTF8) {
      addFault(
        path.member(name),
        "unknown member;" + hint(known, for: name))
    }
    return object
  }

  package mutating func object(_ value: Value, at path: JSONPath) -> ValueObject? {
    if let object = value.object { return object }
    addFault(path, "has to be an object; it is \(value.described)")
    return nil
  }

  package mutating func array(_ value: Value, at path: JSONPath) -> [Value]? {
    if let list = value.array { return list }
    addFault(path, "has to be an array; it is \(value.described)")
    return nil
  }

  /// A string that is not empty.
  package mutating func string(_ value: Value, at path: JSONPath) -> String? {
    guard let text = value.string else {
      addFault(path, "has to be a string; it is \(value.described)")
      return nil
    }
    guard !text.isEmpty else {
      addFault(path, "must not be empty")
      return nil
    }
    return text
  }

  package mutating func string(_ name: String, of object: ValueObject, at path: JSONPath) -> String?
  {
    object[name].flatMap { string($0, at: path.member(name)) }
  }

  package mutating func requiredString(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> String? {
    if object[name] == nil { addFault(path, "the member \"\(name)\" is missing") }
    return string(name, of: object, at: path)
  }

  package mutating func boolean(_ name: String, of object: ValueObject, at path: JSONPath) -> Bool?
  {
    guard let value = object[name] else { return nil }
    if let bool = value.bool { return bool }
    addFault(path.member(name), "has to be true or false; it is \(value.described)")
    return nil
  }

  package mutating func integer(_ name: String, of object: ValueObject, at path: JSONPath) -> Int? {
    guard let value = object[name] else { return nil }
    if let integer = value.exactInteger { return Int(integer) }
    addFault(path.member(name), "has to be an integer of 64 bits; it is \(value.described)")
    return nil
  }

  /// The raw value of one of the cases of `Choice`.
  package mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of object: ValueObject, at path: JSONPath, as type: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    guard let text = requiredString(name, of: object, at: path) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    addUnknownValue(text, at: path.member(name), of: Choice.allCases.map(\.rawValue))
    return nil
  }

  /// Adds an error for a string that is not one of the known values.
  package mutating func addUnknownValue(
    _ word: String, at path: JSONPath, of known: [String]
  ) {
    addFault(path, "\"\(word)\" is not known;" + hint(known, for: word))
  }

  /// The most similar of the known names, and the first of them. To find it takes long, so nothing is
  /// returned for an error that is not described.
  private func hint(_ known: [String], for name: String) -> String {
    guard describesFaults else { return "" }
    let listed = known.prefix(32).joined(separator: ", ")
    let rest = known.count > 32 ? " and \(known.count - 32) more" : ""
    return "\(NameSuggestion.hint(for: name, among: known)) known here: \(listed)\(rest)"
  }

  /// Like ``choice(_:of:at:as:)``, for an optional member.
  package mutating func optionalChoice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of object: ValueObject, at path: JSONPath, as type: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    object[name] == nil ? nil : choice(name, of: object, at: path, as: type)
  }

  /// An array of strings without duplicates.
  package mutating func distinctStrings(
    _ member: String, of object: ValueObject, at path: JSONPath
  ) -> [String] {
    let path = path.member(member)
    guard let value = object[member], let list = array(value, at: path) else { return [] }
    var texts: [String] = []
    var seen: Set<UTF8Key> = []
    for (index, value) in list.enumerated() {
      guard let text = string(value, at: path.element(index)) else { continue }
      if !seen.insert(UTF8Key(text)).inserted {
        addFault(path.element(index), "\"\(text)\" occurs twice; remove one")
      }
      texts.append(text)
    }
    return texts
  }
}

extension Value {
  /// A short description of the value for a sentence.
  fileprivate var described: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let number): number.digits.count > 40 ? "a long number" : number.digits
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// One error in a document.
package struct DocumentFault: Sendable, Hashable, CustomStringConvertible {
  /// A JSON path, such as `$.routes[3].pattern`.
  package let path: String
  /// The error and its correction.
  package let message: String

  package var description: String { "\(path): \(message)" }
}

/// The first errors of a document, in the order of the checks. Never empty.
package struct DocumentFaults: Error, Sendable, CustomStringConvertible {
  /// The number of errors that are described; one more tells that there are further ones.
  package static let limit = 32

  package let faults: [DocumentFault]

  package init(faults: [DocumentFault]) {
    self.faults = faults
  }

  /// One error a line.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

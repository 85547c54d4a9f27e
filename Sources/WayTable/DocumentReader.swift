import WayValues

/// Takes a document apart and notes every fault, instead of stopping at the first.
package protocol DocumentReader {
  var faults: [DocumentFault] { get set }
}

extension DocumentReader {
  package mutating func fault(_ path: JSONPath, _ message: String) {
    faults.append(DocumentFault(path: path.description, message: message))
  }

  /// The object, with members that are not `known` noted.
  package mutating func object(_ value: Value, at path: JSONPath, known: [String]) -> ValueObject? {
    guard let object = object(value, at: path) else { return nil }
    for name in object.members.map(\.name) where !known.contains(where: name.isSameUTF8) {
      fault(
        path.member(name),
        "unknown member;\(NearMiss.hint(for: name, among: known)) known here: "
          + known.joined(separator: ", "))
    }
    return object
  }

  package mutating func object(_ value: Value, at path: JSONPath) -> ValueObject? {
    if let object = value.object { return object }
    fault(path, "has to be an object; it is \(value.described)")
    return nil
  }

  package mutating func list(_ value: Value, at path: JSONPath) -> [Value]? {
    if let list = value.list { return list }
    fault(path, "has to be an array; it is \(value.described)")
    return nil
  }

  /// A text that is not empty.
  package mutating func text(_ value: Value, at path: JSONPath) -> String? {
    guard let text = value.string else {
      fault(path, "has to be a string; it is \(value.described)")
      return nil
    }
    guard !text.isEmpty else {
      fault(path, "must not be empty")
      return nil
    }
    return text
  }

  package mutating func text(_ name: String, of object: ValueObject, at path: JSONPath) -> String? {
    object[name].flatMap { text($0, at: path.member(name)) }
  }

  package mutating func requiredText(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> String? {
    if object[name] == nil { fault(path, "the member '\(name)' is missing") }
    return text(name, of: object, at: path)
  }

  package mutating func bool(_ name: String, of object: ValueObject, at path: JSONPath) -> Bool? {
    guard let value = object[name] else { return nil }
    if let bool = value.bool { return bool }
    fault(path.member(name), "has to be true or false; it is \(value.described)")
    return nil
  }

  package mutating func integer(_ name: String, of object: ValueObject, at path: JSONPath) -> Int? {
    guard let value = object[name] else { return nil }
    if let integer = value.integer { return Int(integer) }
    fault(path.member(name), "has to be an integer of 64 bits; it is \(value.described)")
    return nil
  }

  /// One of the words that `ScreenChoice` has.
  package mutating func choice<ScreenChoice: RawRepresentable & CaseIterable>(
    _ name: String, of object: ValueObject, at path: JSONPath, as type: ScreenChoice.Type
  ) -> ScreenChoice? where ScreenChoice.RawValue == String {
    guard let text = requiredText(name, of: object, at: path) else { return nil }
    if let choice = ScreenChoice(rawValue: text) { return choice }
    unknown(text, at: path.member(name), of: ScreenChoice.allCases.map(\.rawValue))
    return nil
  }

  /// Notes a word that is none of those that are known.
  package mutating func unknown(_ word: String, at path: JSONPath, of known: [String]) {
    fault(
      path,
      "'\(word)' is not known;\(NearMiss.hint(for: word, among: known)) known here: "
        + known.joined(separator: ", "))
  }

  /// As ``choice(_:of:at:as:)``, where the member may be missing.
  package mutating func optionalChoice<ScreenChoice: RawRepresentable & CaseIterable>(
    _ name: String, of object: ValueObject, at path: JSONPath, as type: ScreenChoice.Type
  ) -> ScreenChoice? where ScreenChoice.RawValue == String {
    object[name] == nil ? nil : choice(name, of: object, at: path, as: type)
  }

  /// Texts, none of which comes twice.
  package mutating func distinctTexts(
    _ member: String, of object: ValueObject, at path: JSONPath
  ) -> [String] {
    let path = path.member(member)
    guard let value = object[member], let list = list(value, at: path) else { return [] }
    var texts: [String] = []
    for (index, value) in list.enumerated() {
      guard let text = text(value, at: path.element(index)) else { continue }
      if texts.contains(where: text.isSameUTF8) {
        fault(path.element(index), "'\(text)' comes twice")
      }
      texts.append(text)
    }
    return texts
  }
}

extension Value {
  /// What this is, short enough for a sentence.
  fileprivate var described: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let number): number.digits.count > 40 ? "a long number" : number.digits
    case .string: "a string"
    case .list: "an array"
    case .object: "an object"
    }
  }
}

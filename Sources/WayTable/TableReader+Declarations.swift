import WayValues

/// What kinds of value a parameter or result may be declared to be; the words of JSON Schema.
enum DeclaredType: String, CaseIterable {
  case string, integer, number, boolean, array, object
}

extension TableReader {
  /// Checks `parameters`, a declaration for each name, and `result`, one declaration. They are kept as
  /// they came.
  mutating func checkDeclarations(of route: ValueObject, at path: JSONPath) {
    if let value = route["parameters"] {
      let path = path.member("parameters")
      for member in object(value, at: path)?.members ?? [] {
        let (name, value) = (member.name, member.value)
        checkDeclaration(value, at: path.member(name))
      }
    }
    if let value = route["result"] { checkDeclaration(value, at: path.member("result")) }
  }

  private mutating func checkDeclaration(_ value: Value, at path: JSONPath) {
    guard let object = object(value, at: path, known: ["type", "title"]) else { return }
    _ = choice("type", of: object, at: path, as: DeclaredType.self)
    _ = text("title", of: object, at: path)
  }
}

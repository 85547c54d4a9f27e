import WayValues

/// The types of AppFunctions that parameters and results need: classes whose members have only the
/// types that AppFunctions support. Values of enumerations become their JSON, and other values that
/// AppFunctions cannot have become JSON as a string.
struct AppFunctionTypes {
  private let model: CodeModel
  private let kotlin: KotlinCode
  private var names: CodeIdentifiers
  /// The classes by the index of the declaration that they copy, in the order of the declarations.
  private var classes: [Int: String] = [:]
  /// Those classes that parameters use.
  private var givenClasses: Set<Int> = []
  /// Whether a result has a part that becomes JSON.
  private(set) var hasJSON = false

  init(_ model: CodeModel, _ kotlin: KotlinCode) {
    self.model = model
    self.kotlin = kotlin
    names = CodeIdentifiers(
      .upper, reserved: Set(model.declarations.map(\.identifier)).union(Self.reserved),
      allowsNonASCIILetters: true)
  }

  private static let reserved: Set = [
    "AppFunctionAppUnknownException", "AppFunctionDeclaration",
    "AppFunctionInvalidArgumentException", "AppFunctionSerializable", "AppFunctionService",
    "AppFunctionServiceEntryPoint", "AppFunctionStringValueConstraint", "RequiresApi",
  ]

  /// Adds the classes that a type needs.
  mutating func add(_ type: CodeType, asParameter: Bool) {
    let type = resolved(type)
    if isJSON(type) { hasJSON = true }
    if case .array(let element) = type, !isJSON(type) { add(element, asParameter: asParameter) }
    guard case .declared(let index) = type,
      case .structure(let members) = model.declaration(index).kind
    else { return }
    let isNew = asParameter ? givenClasses.insert(index).inserted : classes[index] == nil
    guard isNew else { return }
    if classes[index] == nil {
      let identifier = model.declaration(index).identifier
      classes[index] = names.name(for: "agent \(identifier)", "type")
    }
    for member in members {
      add(member.type, asParameter: false)
      if asParameter, isSupported(member.type) { add(member.type, asParameter: true) }
    }
  }

  /// Whether a parameter can have a type.
  func isSupported(_ type: CodeType) -> Bool { isSupported(type, within: []) }

  private func isSupported(_ type: CodeType, within outer: Set<Int>) -> Bool {
    let type = resolved(type)
    if isJSON(type) { return false }
    switch type {
    case .array(let element): return isSupported(element, within: outer)
    case .declared(let index):
      guard case .structure(let members) = model.declaration(index).kind, !outer.contains(index)
      else { return true }
      return members.allSatisfy {
        !$0.isRequired || isSupported($0.type, within: outer.union([index]))
      }
    default: return true
    }
  }

  /// Whether a value of a type becomes JSON as a string.
  private func isJSON(_ type: CodeType) -> Bool {
    switch resolved(type) {
    case .anyValue, .object: return true
    case .array(let element):
      if element.isNullable { return true }
      switch resolved(element) {
      case .anyValue, .object, .array, .nullable: return true
      default: return false
      }
    default: return false
    }
  }

  /// A type without null and without aliases.
  private func resolved(_ type: CodeType) -> CodeType {
    let type = type.unwrapped
    if case .declared(let index) = type, case .alias(let other) = model.declaration(index).kind {
      return resolved(other)
    }
    return type
  }

  /// The cases of an enumeration.
  private func cases(of type: CodeType) -> [CodeCase]? {
    guard case .declared(let index) = type,
      case .enumeration(let cases) = model.declaration(index).kind
    else { return nil }
    return cases
  }

  /// The values of an enumeration of strings, as literals; `nil` for another type.
  func allowedTexts(of type: CodeType) -> String? {
    guard let cases = cases(of: resolved(type)), cases.first?.value.string != nil else {
      return nil
    }
    return cases.map { kotlin.literal($0.value) }.joined(separator: ", ")
  }

  /// The name of the type that AppFunctions have for a type.
  func name(of type: CodeType) -> String {
    let mark = isNullable(type) ? "?" : ""
    let type = resolved(type)
    if isJSON(type) { return "String\(mark)" }
    switch type {
    case .array(let element):
      let element = resolved(element)
      switch isInteger(element) ? .integer : element {
      case .integer: return "LongArray\(mark)"
      case .number: return "DoubleArray\(mark)"
      case .boolean: return "BooleanArray\(mark)"
      default: return "List<\(name(of: element))>\(mark)"
      }
    case .declared(let index):
      if let name = classes[index] { return name + mark }
      return (isInteger(type) ? "Long" : "String") + mark
    default: return kotlin.name(of: type) + mark
    }
  }

  private func isInteger(_ type: CodeType) -> Bool {
    type == .integer || cases(of: type)?.first?.value.integer != nil
  }

  private func isNullable(_ type: CodeType) -> Bool {
    if type.isNullable { return true }
    if case .declared(let index) = type, case .alias(let other) = model.declaration(index).kind {
      return isNullable(other)
    }
    return false
  }

  /// Whether AppFunctions have the same type for a type.
  func isSame(_ type: CodeType) -> Bool { converted("value", type) == "value" }

  /// An expression that converts a value of the file for Kotlin.
  func converted(_ value: String, _ type: CodeType) -> String {
    if isNullable(type) {
      let some = converted("some", type.isNullable ? type.unwrapped : resolved(type))
      return some == "some" ? value : "\(value)?.let { some -> \(some) }"
    }
    let resolved = resolved(type)
    if isJSON(resolved) { return "jsonText(\(kotlin.encoded(value, resolved)))" }
    switch resolved {
    case .array(let element):
      let one = converted("one", element)
      let list = one == "one" ? value : "\(value).map { one -> \(one) }"
      return list + arraySuffix(of: element)
    case .declared(let index):
      if let name = classes[index] { return "\(name).of(\(value))" }
      return "\(value).json"
    default: return value
    }
  }

  private func arraySuffix(of element: CodeType) -> String {
    let element = resolved(element)
    switch isInteger(element) ? .integer : element {
    case .integer: return ".toLongArray()"
    case .number: return ".toDoubleArray()"
    case .boolean: return ".toBooleanArray()"
    default: return ""
    }
  }

  /// An expression that converts a value of AppFunctions to one of the file for Kotlin. `path`
  /// names the value in an error.
  func restored(_ value: String, _ type: CodeType, at path: String) -> String {
    if isNullable(type) {
      let some = restored("some", type.isNullable ? type.unwrapped : resolved(type), at: path)
      return some == "some" ? value : "\(value)?.let { some -> \(some) }"
    }
    switch resolved(type) {
    case .array(let element):
      let one = restored("one", element, at: path)
      if one != "one" { return "\(value).map { one -> \(one) }" }
      return arraySuffix(of: element).isEmpty ? value : "\(value).toList()"
    case .declared(let index):
      if classes[index] != nil { return "\(value).toRoute()" }
      let name = model.declaration(index).identifier
      return "\(name).read(\(value), \(model.language.literal(path)))"
    default: return value
    }
  }

  /// Writes the classes.
  func write(to code: inout CodeWriter) {
    for (index, name) in classes.sorted(by: { $0.key < $1.key }) {
      let declaration = model.declaration(index)
      guard case .structure(let members) = declaration.kind else { continue }
      code.line()
      code.blockComment(declaration.notes)
      code.line("@AppFunctionSerializable(isDescribedByKDoc = true)")
      code.block("data class \(name)(", ") {") { code in
        for member in members { write(member, to: &code) }
      }
      code.finishBlock { code in
        if givenClasses.contains(index) {
          let given = members.filter { isSupported($0.type) }.map {
            "\($0.identifier) = \(restored("this.\($0.identifier)", type(of: $0), at: $0.name))"
          }
          code.line("fun toRoute(): \(declaration.identifier) =")
          code.line("    \(declaration.identifier)(\(given.joined(separator: ", ")))")
          code.line()
        }
        code.block("companion object {") { code in
          let given = members.map {
            "\($0.identifier) = \(converted("value.\($0.identifier)", type(of: $0)))"
          }
          code.line("fun of(value: \(declaration.identifier)): \(name) =")
          code.line("    \(name)(\(given.joined(separator: ", ")))")
        }
      }
    }
  }

  private func write(_ member: CodeMember, to code: inout CodeWriter) {
    code.blockComment(member.notes)
    if let values = allowedTexts(of: member.type) {
      code.line("@property:AppFunctionStringValueConstraint(enumValues = [\(values)])")
    }
    let rest = member.isRequired ? "" : " = null"
    code.line("val \(member.identifier): \(name(of: type(of: member)))\(rest),")
  }

  /// The type of a member in the file for Kotlin.
  private func type(of member: CodeMember) -> CodeType {
    member.isRequired ? member.type : .nullable(member.type.unwrapped)
  }
}

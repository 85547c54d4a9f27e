/// A language that code is generated in.
package enum CodeLanguage: String, Sendable, CaseIterable {
  case typescript, swift, dart, kotlin

  /// What the generated file is called.
  package var fileName: String {
    switch self {
    case .typescript: "routes.ts"
    case .swift: "Routes.swift"
    case .dart: "routes.dart"
    case .kotlin: "Routes.kt"
    }
  }

  /// A text as a literal of the language.
  func literal(_ text: String) -> String {
    switch self {
    case .typescript, .swift: text.quoted(escaping: []) { unseen($0) }
    // A dollar begins what is put into a text.
    case .dart, .kotlin: text.quoted(escaping: ["$"]) { unseen($0) }
    }
  }

  private func unseen(_ scalar: Unicode.Scalar) -> String {
    switch self {
    case .typescript, .swift, .dart: return "\\u{\(scalar.hex)}"
    case .kotlin:
      return String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}

/// Which names a language has for itself, by what is named.
struct LanguageNames {
  /// Those of the language that nothing may have.
  let keywords: Set<String>
  /// Further ones that no type may have: those of the standard library and of the code around.
  let types: Set<String>
  /// Further ones that no function or constant may have.
  let functions: Set<String>
  /// Further ones that no member of a type may have.
  let members: Set<String>
  /// Further ones that no value of an enumeration may have.
  let cases: Set<String>
  /// Whether names have letters beyond ASCII.
  var keepsLetters = true

  func typeNames() -> Identifiers { names(.upper, types) }
  func functionNames() -> Identifiers { names(.lower, functions) }
  func memberNames() -> Identifiers { names(.lower, members) }
  func caseNames() -> Identifiers { names(.lower, cases) }

  private func names(_ style: Identifiers.Style, _ further: Set<String>) -> Identifiers {
    Identifiers(style, reserved: keywords.union(further), keepsLetters: keepsLetters)
  }
}

extension CodeLanguage {
  var names: LanguageNames {
    switch self {
    case .typescript: Self.typeScriptNames
    case .swift: Self.swiftNames
    case .dart: Self.dartNames
    case .kotlin: Self.kotlinNames
    }
  }

  /// ECMAScript's reserved words, those of strict mode and modules, and the types of TypeScript. In
  /// TypeScript they are asked of types only: names of properties are free.
  private static let typeScriptNames = LanguageNames(
    keywords: [],
    types: [
      "Array", "Boolean", "Date", "Error", "Function", "Map", "Number", "Object", "Promise",
      "Readonly", "ReadonlyArray", "Record", "RegExp", "Routes", "Set", "String", "Symbol",
    ],
    functions: [], members: [], cases: [])

  /// The Swift Programming Language, Lexical Structure: keywords of declarations, statements,
  /// expressions and types, and those words that begin an expression where they stand in one.
  private static let swiftNames = LanguageNames(
    keywords: [
      "Any", "Protocol", "Self", "Type", "any", "as", "associatedtype", "async", "await",
      "borrow", "break", "case", "catch", "class", "consume", "continue", "copy", "default",
      "defer", "deinit", "do", "each", "else", "enum", "extension", "fallthrough", "false",
      "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
      "is", "let", "macro", "nil", "operator", "precedencegroup", "private", "protocol", "public",
      "repeat", "rethrows", "return", "self", "some", "static", "struct", "subscript", "super",
      "switch", "throw", "throws", "true", "try", "typealias", "unsafe", "var", "where", "while",
    ],
    types: [
      "Array", "Bool", "CaseIterable", "Codable", "CodingKey", "CodingKeys", "Data", "Decodable",
      "Decoder",
      "Dictionary", "Double", "Encodable", "Encoder", "Equatable", "Error", "EventTopic",
      "Hashable", "Int", "Never", "Optional", "PageCall", "PageMethodCall", "RawRepresentable",
      "Result", "Routes", "Sendable", "Set", "String", "TableStamp", "Value", "ValueCall", "Void",
      "Waybridge", "WaybridgeClient",
    ],
    functions: ["table"], members: ["hash", "hashValue", "encode", "encoder"],
    cases: ["allCases", "hash", "hashValue", "none", "rawValue"])

  /// The Dart language specification, Reserved Words and built-in identifiers. Names of Dart are
  /// ASCII.
  private static let dartNames = LanguageNames(
    keywords: [
      "abstract", "as", "assert", "async", "await", "base", "break", "case", "catch", "class",
      "const", "continue", "covariant", "default", "deferred", "do", "dynamic", "else", "enum",
      "export", "extends", "extension", "external", "factory", "false", "final", "finally", "for",
      "function", "get", "hide", "if", "implements", "import", "in", "interface", "is", "late",
      "library", "mixin", "new", "null", "of", "on", "operator", "part", "required", "rethrow",
      "return", "sealed", "set", "show", "static", "super", "switch", "sync", "this", "throw",
      "true", "try", "type", "typedef", "var", "void", "when", "while", "with", "yield",
    ],
    types: [
      "Future", "Function", "Iterable", "List", "Map", "Never", "Null", "Object", "PageOutcome",
      "RouteClient", "RouteError", "Routes", "Set", "Stream", "String", "TypedRoutes",
    ],
    functions: ["table", "hashCode", "runtimeType", "toString", "noSuchMethod"],
    members: [
      "bool", "double", "int", "num", "json", "hashCode", "runtimeType", "toString", "toJson",
      "fromJson", "noSuchMethod",
    ],
    cases: [
      "values", "value", "index", "name", "hashCode", "runtimeType", "toString", "toJson",
      "fromJson", "noSuchMethod",
    ],
    keepsLetters: false)

  /// Kotlin, Keywords and operators: the hard keywords, and those soft ones that code around uses.
  private static let kotlinNames = LanguageNames(
    keywords: [
      "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
      "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true",
      "try", "typealias", "typeof", "val", "value", "var", "when", "while",
    ],
    types: [
      "Any", "Array", "AutoCloseable", "Boolean", "Double", "Enum", "Exception", "List", "Long",
      "Map", "Nothing", "Number", "PageOutcome", "Pair", "RouteClient", "RouteException", "Routes",
      "Set", "String", "Unit",
    ],
    functions: ["table"],
    members: ["toJson", "json", "hashCode", "toString", "equals", "copy"],
    cases: ["entries", "json", "name", "ordinal", "toJson", "values", "valueOf", "Companion"])
}

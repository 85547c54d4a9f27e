/// A language of generated code.
package enum CodeLanguage: String, Sendable, CaseIterable {
  case typescript, swift, dart, kotlin
  /// Swift and Kotlin for the assistants of phones: only routes that are tools for agents.
  case appintents, appfunctions

  /// The language in which the code is written.
  package var syntax: CodeLanguage {
    switch self {
    case .typescript, .swift, .dart, .kotlin: self
    case .appintents: .swift
    case .appfunctions: .kotlin
    }
  }

  /// The name of the generated file.
  package var fileName: String {
    switch self {
    case .typescript: "routes.ts"
    case .swift: "Routes.swift"
    case .dart: "routes.dart"
    case .kotlin: "Routes.kt"
    case .appintents: "RouteIntents.swift"
    case .appfunctions: "RouteFunctions.kt"
    }
  }

  /// A string as a literal of the language.
  func literal(_ text: String) -> String {
    switch self {
    case .typescript, .swift, .appintents: text.quoted(escaping: []) { escaped($0) }
    // A dollar sign begins an interpolation.
    case .dart, .kotlin, .appfunctions: text.quoted(escaping: ["$"]) { escaped($0) }
    }
  }

  /// An integer as a literal of the language.
  func literal(_ integer: Int64) -> String {
    switch self {
    case .typescript, .swift, .dart, .appintents: "\(integer)"
    // Kotlin parses the sign as an operator, and the positive number overflows.
    case .kotlin, .appfunctions: integer == .min ? "Long.MIN_VALUE" : "\(integer)L"
    }
  }

  private func escaped(_ scalar: Unicode.Scalar) -> String {
    switch self {
    case .typescript, .swift, .dart, .appintents: return "\\u{\(scalar.hex)}"
    case .kotlin, .appfunctions:
      return String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}

/// The reserved names of a language, by the kind of declaration.
struct LanguageNames {
  /// Keywords that no declaration may use.
  let keywords: Set<String>
  /// Additional names that no type may use: those of the standard library and of the surrounding
  /// code.
  let types: Set<String>
  /// Additional names that no function or constant may use.
  let functions: Set<String>
  /// Additional names that no member of a type may use.
  let members: Set<String>
  /// Additional names that no value of an enumeration may use.
  let cases: Set<String>
  /// Whether names may contain letters beyond ASCII.
  var allowsNonASCIILetters = true

  func typeNames() -> CodeIdentifiers { names(.upper, types) }
  func functionNames() -> CodeIdentifiers { names(.lower, functions) }
  func memberNames() -> CodeIdentifiers { names(.lower, members) }
  func caseNames() -> CodeIdentifiers { names(.lower, cases) }

  private func names(_ style: CodeIdentifiers.WordStyle, _ further: Set<String>) -> CodeIdentifiers
  {
    CodeIdentifiers(
      style, reserved: keywords.union(further), allowsNonASCIILetters: allowsNonASCIILetters)
  }
}

extension CodeLanguage {
  var names: LanguageNames {
    switch self {
    case .typescript: Self.typeScriptNames
    case .swift, .appintents: Self.swiftNames
    case .dart: Self.dartNames
    case .kotlin, .appfunctions: Self.kotlinNames
    }
  }

  /// ECMAScript's reserved words, those of strict mode and modules, and the types of TypeScript.
  /// They apply to types only: property names are unrestricted.
  private static let typeScriptNames = LanguageNames(
    keywords: [],
    types: [
      "Array", "Boolean", "Date", "Error", "Function", "Map", "Number", "Object", "Promise",
      "Readonly", "ReadonlyArray", "Record", "RegExp", "Routes", "Set", "String", "Symbol",
    ],
    functions: [], members: [], cases: [])

  /// The Swift Programming Language, Lexical Structure: keywords of declarations, statements,
  /// expressions and types, and contextual words that begin an expression.
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
    cases: [
      "allCases", "caseDisplayRepresentations", "hash", "hashValue", "none", "rawValue",
      "typeDisplayRepresentation",
    ])

  /// The Dart language specification, Reserved Words and built-in identifiers. Names in Dart are
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
      "Enum", "Exception", "Future", "Function", "Iterable", "List", "Map", "Never", "Null",
      "Object", "PageOutcome", "Record", "RouteClient", "RouteException", "Routes", "Set", "Stream",
      "String", "Type", "TypedRoutes", "Uri",
    ],
    functions: dartObjectMembers.union(["tableHash", "tableVersion"]),
    members: dartObjectMembers.union(["bool", "double", "int", "num", "read", "toJson"]),
    cases: dartObjectMembers.union(["index", "name", "read", "value", "values"]),
    allowsNonASCIILetters: false)

  /// The members of every Dart object.
  private static let dartObjectMembers: Set = [
    "hashCode", "noSuchMethod", "runtimeType", "toString",
  ]

  /// Kotlin, Keywords and operators: the hard keywords. Soft ones are valid names.
  private static let kotlinNames = LanguageNames(
    keywords: [
      "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
      "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true",
      "try", "typealias", "typeof", "val", "var", "when", "while",
    ],
    types: [
      "Any", "AppFunctionAppUnknownException", "AppFunctionDeclaration",
      "AppFunctionInvalidArgumentException", "AppFunctionSerializable", "AppFunctionService",
      "AppFunctionServiceEntryPoint", "AppFunctionStringValueConstraint", "Array", "AutoCloseable",
      "BaseRouteFunctionService", "Boolean", "BooleanArray", "Double", "DoubleArray", "Enum",
      "Exception", "LeftOut", "List", "Long", "LongArray", "Map", "Nothing", "Number",
      "PageOutcome", "Pair", "RequiresApi", "RouteClient", "RouteException", "RouteFunctions",
      "Routes", "Set", "String", "Unit",
    ],
    functions: ["tableHash", "tableVersion"],
    members: ["copy", "equals", "hashCode", "toJson", "toString"],
    cases: [
      "compareTo", "declaringClass", "declaringJavaClass", "describeConstable", "entries", "equals",
      "hashCode", "json", "name", "ordinal", "read", "toString", "valueOf", "values",
      // Modifiers and similar words, which are parsed as such at the start of an entry.
      "abstract", "actual", "annotation", "companion", "const", "constructor", "crossinline",
      "data",
      "dynamic", "enum", "expect", "external", "init", "final", "infix", "inline", "inner",
      "internal", "lateinit", "noinline",
      "open", "operator", "out", "override", "private", "protected", "public", "reified", "sealed",
      "suspend", "tailrec", "value", "vararg",
    ])
}

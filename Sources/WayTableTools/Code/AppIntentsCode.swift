import WayRouting
import WayValues

/// Generates App Intents for Apple's platforms: one for each route that is a tool for agents. They
/// call the bridge through a small protocol that the file declares, since the Swift client does not
/// build for these platforms.
struct AppIntentsCode {
  private struct Intent {
    let route: CodeRoute
    let name: String
    /// Those that App Intents can ask for.
    let parameters: [CodeMember]
  }

  private let model: CodeModel
  private var intents: [Intent] = []
  /// The names of the enumerations of parameters, by the index of their declaration.
  private var enumerations: [Int: String] = [:]
  /// The routes with a required parameter that App Intents cannot ask for.
  private var omitted: [String] = []

  init(_ model: CodeModel) {
    self.model = model
    var names = CodeIdentifiers(
      .upper, reserved: Self.reservedTypes, allowsNonASCIILetters: true)
    for route in model.agentRoutes {
      guard route.parameters.allSatisfy({ !$0.isRequired || isAskable($0.type) }) else {
        omitted.append(route.route.name)
        continue
      }
      let parameters = route.parameters.filter { isAskable($0.type) }
      for parameter in parameters {
        guard let index = enumeration(of: parameter.type), enumerations[index] == nil else {
          continue
        }
        enumerations[index] = names.name(for: model.declaration(index).identifier, "value")
      }
      let name = names.name(for: "\(route.identifier) intent", "intent")
      intents.append(Intent(route: route, name: name, parameters: parameters))
    }
  }

  /// Names of the framework, of the runtime and of the standard library.
  private static let reservedTypes: Set = [
    "Any", "AppEnum", "AppIntent", "Array", "Bool", "CaseIterable", "CharacterSet", "Codable",
    "CustomLocalizedStringResourceConvertible", "Data", "Decodable", "Dictionary",
    "DisplayRepresentation", "Double", "Encodable", "Error", "Int", "IntentAuthenticationPolicy",
    "IntentDescription", "IntentResult", "JSONDecoder", "JSONEncoder", "JSONSerialization",
    "LocalizedStringResource", "NSNull", "Never", "Optional", "Parameter", "Protocol",
    "RawRepresentable", "Result", "ReturnsValue", "RouteBridge", "RouteCall", "RouteIntentError",
    "RouteIntents", "Self", "Sendable", "Set", "String", "Type", "TypeDisplayRepresentation",
    "Value", "Void",
  ]

  /// Members of every intent that an instance cannot declare.
  private static let reservedMembers: Set = [
    "call", "donate", "perform", "requestConfirmation", "systemContext",
  ]

  var text: String {
    var code = CodeWriter(unit: "  ")
    code.line("// swift-format-ignore-file")
    code.comment(
      model.heading
        + list(omitted, "Omitted, because App Intents cannot ask for a required parameter:"),
      mark: "//")
    code.line()
    code.line("import AppIntents")
    code.line("import Foundation")
    code.line()
    code.comment(["What the intents need of the app."], mark: "///")
    code.block("public enum RouteIntents {") { code in
      code.comment(["The version of the table that this code was generated from."], mark: "///")
      code.line("public static let tableVersion = \(literal(model.stamp.version))")
      code.line("public static let tableHash = \(literal(model.stamp.hash))")
      code.comment(
        [
          "Returns the app's connection to its bridge. Set it when the app starts, before an intent "
            + "can run."
        ], mark: "///")
      code.line(
        "@MainActor public static var bridge: (@Sendable () async throws -> any RouteBridge)?")
    }
    code.line()
    code.verbatim(Self.bridgeProtocol)
    for (index, name) in enumerations.sorted(by: { $0.key < $1.key }) {
      code.line()
      write(model.declaration(index), as: name, to: &code)
    }
    for intent in intents {
      code.line()
      write(intent, to: &code)
    }
    code.line()
    code.verbatim(Self.runtime)
    return code.text
  }

  private func list(_ names: [String], _ reason: String) -> [String] {
    names.isEmpty ? [] : ["", reason] + names.map { "- \($0.visible)" }
  }

  private func write(
    _ declaration: CodeDeclaration, as name: String, to code: inout CodeWriter
  ) {
    guard case .enumeration(let cases) = declaration.kind else { return }
    let isText = cases.first?.value.string != nil
    code.comment(declaration.notes, mark: "///")
    code.block("public enum \(name): \(isText ? "String" : "Int"), AppEnum {") { code in
      for one in cases {
        code.line("case \(one.identifier) = \(one.value.string.map(literal) ?? one.value.text)")
      }
      code.line()
      let title = declaration.notes.first ?? name
      code.line(
        "public static let typeDisplayRepresentation: TypeDisplayRepresentation = \(literal(title))"
      )
      code.block(
        "public static let caseDisplayRepresentations: [\(name): DisplayRepresentation] = [", "]"
      ) { code in
        for one in cases {
          let shown = one.value.string?.visible ?? one.value.text
          code.line(".\(one.identifier): \(literal(shown.isEmpty ? one.identifier : shown)),")
        }
      }
    }
  }

  private func write(_ intent: Intent, to code: inout CodeWriter) {
    let route = intent.route
    let hints = route.route.agents
    code.comment(route.notes, mark: "///")
    code.block("public struct \(intent.name): AppIntent {") { code in
      code.line(
        "public static let title: LocalizedStringResource = "
          + literal((route.route.title ?? route.route.name).visible))
      if let purpose = route.route.purpose?.visible, !purpose.isEmpty {
        code.line(
          "public static let description: IntentDescription? = IntentDescription(\(literal(purpose)))"
        )
      }
      // A page is shown in the app.
      if route.isPage { code.line("public static let openAppWhenRun = true") }
      if hints?.isReadOnly != true {
        code.line(
          "public static let authenticationPolicy: IntentAuthenticationPolicy = "
            + ".requiresAuthentication")
      }
      for parameter in intent.parameters {
        code.line()
        write(parameter, to: &code)
      }
      code.line()
      code.line("public init() {}")
      code.line()
      let result = resultType(of: route)
      code.block(
        "public func perform() async throws -> some IntentResult & ReturnsValue<\(result)> {"
      ) { code in
        if hints?.isDestructive == true { code.line("try await requestConfirmation()") }
        writeCall(of: intent, returning: result, to: &code)
      }
    }
  }

  private func write(_ parameter: CodeMember, to code: inout CodeWriter) {
    var arguments = ["title: \(literal(parameter.title ?? parameter.name.visible))"]
    let explanation = parameter.explanation
    if !explanation.isEmpty, explanation != parameter.title {
      arguments.append("description: \(literal(explanation))")
    }
    var type = typeName(parameter.type)
    if let value = defaultLiteral(of: parameter) {
      arguments.append("default: \(value)")
    } else if !parameter.isRequired || parameter.type.isNullable {
      type += "?"
    }
    code.line("@Parameter(\(arguments.joined(separator: ", ")))")
    code.line("public var \(identifier(of: parameter)): \(type)")
  }

  private func writeCall(
    of intent: Intent, returning result: String, to code: inout CodeWriter
  ) {
    let route = intent.route
    let patterns = route.uriTemplates.prefix(route.primaryCount).map { literal($0.text) }
    let keyword = intent.parameters.isEmpty ? "let" : "var"
    code.line("\(keyword) call = RouteCall([\(patterns.joined(separator: ", "))])")
    for parameter in intent.parameters {
      let isOptional =
        defaultLiteral(of: parameter) == nil && (!parameter.isRequired || parameter.type.isNullable)
      let value = sent(
        "self.\(identifier(of: parameter))", parameter.type, isOptional: isOptional)
      let label = parameter.isRequired && parameter.type.isNullable ? "orNull: " : ""
      code.line("call.set(\(literal(parameter.name)), \(label)\(value))")
    }
    let verb = route.isPage ? "open" : "invoke"
    let decoded = result == "String" && !isText(route) ? "" : "as: \(result).self"
    code.line("return .result(value: try await call.\(verb)(\(decoded)))")
  }

  /// Whether App Intents can ask for a value of a type.
  private func isAskable(_ type: CodeType) -> Bool {
    switch type.unwrapped {
    case .string, .integer, .number, .boolean: true
    case .anyValue, .object, .nullable: false
    case .array(.array), .array(.nullable): false
    case .array(let element): isAskable(element)
    case .declared(let index):
      switch model.declaration(index).kind {
      case .alias(let other): isAskable(other)
      case .enumeration: true
      case .structure: false
      }
    }
  }

  /// The declaration of an enumeration that a type is or contains.
  private func enumeration(of type: CodeType) -> Int? {
    switch type.unwrapped {
    case .array(let element): return enumeration(of: element)
    case .declared(let index):
      switch model.declaration(index).kind {
      case .alias(let other): return enumeration(of: other)
      case .enumeration: return index
      case .structure: return nil
      }
    default: return nil
    }
  }

  /// The type of a parameter that can be asked for, without null.
  private func typeName(_ type: CodeType) -> String {
    switch type.unwrapped {
    case .string: return "String"
    case .integer: return "Int"
    case .number: return "Double"
    case .boolean: return "Bool"
    case .array(let element): return "[\(typeName(element))]"
    case .declared(let index):
      if case .alias(let other) = model.declaration(index).kind { return typeName(other) }
      return enumerations[index] ?? "String"
    case .anyValue, .object, .nullable: return "String"
    }
  }

  /// The type of the result: that of a plain value or a list of them, and JSON as a string for
  /// everything else.
  private func resultType(of route: CodeRoute) -> String {
    let type = route.isPage ? route.result.unwrapped : route.result
    guard !type.isNullable, isAskable(type), enumeration(of: type) == nil else { return "String" }
    return typeName(type)
  }

  /// Whether the result is a string, and not JSON.
  private func isText(_ route: CodeRoute) -> Bool {
    var type = route.isPage ? route.result.unwrapped : route.result
    while case .declared(let index) = type, case .alias(let other) = model.declaration(index).kind {
      type = other
    }
    return type == .string
  }

  /// The value that is sent: the raw values of enumerations.
  private func sent(_ value: String, _ type: CodeType, isOptional: Bool) -> String {
    guard enumeration(of: type) != nil else { return value }
    let mark = isOptional ? "?" : ""
    return value + mark + (isList(type) ? ".map { $0.rawValue }" : ".rawValue")
  }

  private func isList(_ type: CodeType) -> Bool {
    switch type.unwrapped {
    case .array: return true
    case .declared(let index):
      if case .alias(let other) = model.declaration(index).kind { return isList(other) }
      return false
    default: return false
    }
  }

  private func defaultLiteral(of parameter: CodeMember) -> String? {
    let value = model.literal(ofDefault: parameter) { _, identifier in ".\(identifier)" }
    return value == "nil" ? nil : value
  }

  private func identifier(of parameter: CodeMember) -> String {
    // No identifier ends with an underscore unless it is reserved.
    Self.reservedMembers.contains(parameter.identifier)
      ? parameter.identifier + "_" : parameter.identifier
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }
}

import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayValues

extension CodeModel {
  /// Creates the model of a table in a language. Types of the table are named first, then inline
  /// types, in the order of the document. So a route that is added at the end changes no name.
  init(_ table: RouteTable, _ language: CodeLanguage) {
    var builder = CodeModelBuilder(language)
    self.init(stamp: table.stamp, language: language)
    builder.add(table.types)
    routes = builder.routes(table.declarations.routes)
    topics = builder.topics(table.topics)
    declarations = builder.declarations.map {
      // A type is filled in before it is used, even if another type refers to it while it is read.
      $0 ?? CodeDeclaration(identifier: "", kind: .structure([]), notes: [])
    }
    skippedRoutes = table.declarations.routes.filter { $0.patternsWithScheme.isEmpty }.map(\.name)
  }
}

extension Route {
  /// The patterns with a known scheme, and thus a known URI.
  var patternsWithScheme: [RoutePattern] { patterns.filter { $0.scheme != nil } }
}

/// Builds the declarations of a model.
private struct CodeModelBuilder {
  private let names: LanguageNames
  /// Whether the page of a method call is a parameter in addition to those of the method.
  private let hasPageParameter: Bool
  private var typeNames: CodeIdentifiers
  private var functionNames: CodeIdentifiers
  private var topicNames: CodeIdentifiers
  private(set) var declarations: [CodeDeclaration?] = []
  /// The named types, by their names in the table.
  private var types: [UTF8Key: CodeType] = [:]

  init(_ language: CodeLanguage) {
    hasPageParameter = language == .dart || language == .kotlin
    names = language.names
    typeNames = names.typeNames()
    functionNames = names.functionNames()
    topicNames = names.functionNames()
  }

  mutating func add(_ named: [(name: String, schema: ValueSchema)]) {
    for type in named {
      types[UTF8Key(type.name)] = .declared(declarations.count)
      declarations.append(
        CodeDeclaration(
          identifier: typeNames.name(for: type.name, "type"), kind: .structure([]), notes: []))
    }
    for (index, type) in named.enumerated() {
      guard let identifier = declarations[index]?.identifier else { continue }
      let form =
        structureOrEnumeration(type.schema, of: type.name)
        ?? .alias(baseType(type.schema, of: type.name))
      declarations[index] = CodeDeclaration(
        identifier: identifier, kind: form, notes: type.schema.notes)
    }
  }

  /// The type of a schema. `place` describes the schema in words.
  mutating func type(_ schema: ValueSchema?, of place: String) -> CodeType {
    guard let schema else { return .anyValue }
    let found: CodeType
    if let name = schema.typeName, let named = types[UTF8Key(name)] {
      found = named
    } else if schema.isDeclared {
      let index = declarations.count
      declarations.append(nil)
      let identifier = typeNames.name(for: place, "type")
      let form = structureOrEnumeration(schema, of: place) ?? .alias(.anyValue)
      declarations[index] = CodeDeclaration(
        identifier: identifier, kind: form, notes: schema.notes)
      found = .declared(index)
    } else {
      found = baseType(schema, of: place)
    }
    return schema.isNullable ? .nullable(found) : found
  }

  private mutating func structureOrEnumeration(
    _ schema: ValueSchema, of place: String
  ) -> CodeDeclaration.DeclarationKind? {
    if let cases = schema.cases {
      var caseNames = names.caseNames()
      return .enumeration(
        cases.map { value in
          let text =
            value.string ?? value.integer.map { $0 < 0 ? "minus \($0.magnitude)" : "\($0)" }
          return CodeCase(identifier: caseNames.name(for: text ?? "", "value"), value: value)
        })
    }
    guard schema.kind == .object, !schema.properties.isEmpty else { return nil }
    var memberNames = names.memberNames()
    return .structure(
      schema.properties.map { property in
        CodeMember(
          name: property.name, identifier: memberNames.name(for: property.name, "member"),
          type: type(property.schema, of: "\(place) \(property.name)"),
          isRequired: property.isRequired, notes: property.schema.notes)
      })
  }

  /// The type of a schema without its own declaration.
  private mutating func baseType(_ schema: ValueSchema, of place: String) -> CodeType {
    switch schema.kind {
    case .string: .string
    case .integer: .integer
    case .number: .number
    case .boolean: .boolean
    case .array: .array(type(schema.items, of: "\(place) item"))
    case .object: .object
    }
  }

  mutating func routes(_ all: [Route]) -> [CodeRoute] {
    let routes = all.filter { !$0.patternsWithScheme.isEmpty }
    // Every route gets its first name before any gets a second one.
    let own = routes.map { functionNames.name(for: $0.name, $0.kind.rawValue) }
    var codeRoutes: [CodeRoute] = []
    for (route, identifier) in zip(routes, own) { codeRoutes.append(self.route(route, identifier)) }
    return codeRoutes
  }

  private mutating func route(_ route: Route, _ identifier: String) -> CodeRoute {
    var uriTemplates: [CodeRoute.URITemplate] = []
    for expansion in route.patternsWithScheme.flatMap(\.expansions)
    where !uriTemplates.contains(where: { $0.text.isSameUTF8(as: expansion.text) }) {
      let name =
        uriTemplates.isEmpty ? identifier : functionNames.name(for: route.name, route.kind.rawValue)
      uriTemplates.append(
        .init(identifier: name, text: expansion.text, parameterNames: expansion.names))
    }
    let pattern = route.patternsWithScheme[0]
    let parameters = parameters(
      route.parameters, capturedBy: pattern.expansions.map(\.names), of: route.name)
    return CodeRoute(
      route: route, uriTemplates: uriTemplates, primaryCount: pattern.expansions.count,
      parameters: parameters, result: type(route.result, of: "\(route.name) result"),
      methods: route.methods.map { method(of: route, $0) },
      notes: notes(route.title, route.purpose))
  }

  private mutating func method(of route: Route, _ method: RoutePageMethod) -> CodeMethod {
    let name = "\(route.name) \(method.name)"
    return CodeMethod(
      method: method, identifier: functionNames.name(for: name, "method"),
      parameters: parameters(
        method.parameters, capturedBy: [], of: name, reserving: hasPageParameter ? ["page"] : []),
      result: type(method.result, of: "\(name) result"),
      notes: notes(method.title, method.purpose))
  }

  /// First the parameters in the path, from left to right, then the others in order.
  private mutating func parameters(
    _ declared: [ParameterDeclaration], capturedBy expansions: [[String]], of place: String,
    reserving others: [String] = []
  ) -> [CodeMember] {
    var memberNames = names.memberNames()
    for other in others { _ = memberNames.name(for: other, "parameter") }
    let captured = expansions.first ?? []
    var members = captured.map { name in
      let declaration = declared.first { $0.name.isSameUTF8(as: name) }
      let isAlways = expansions.allSatisfy { $0.contains { $0.isSameUTF8(as: name) } }
      let isRest = name == RoutePattern.wildcardName
      let whole = type(declaration?.schema, of: "\(place) \(isRest ? "rest" : name)").unwrapped
      return CodeMember(
        name: name, identifier: memberNames.name(for: isRest ? "rest" : name, "parameter"),
        type: isRest ? .array(.string) : pathType(whole),
        isRequired: isAlways || declaration?.isRequired == true,
        title: declaration?.schema.title?.visible, notes: declaration?.schema.notes ?? [],
        isRest: isRest)
    }
    for parameter in declared
    where !captured.contains(where: { $0.isSameUTF8(as: parameter.name) }) {
      members.append(
        CodeMember(
          name: parameter.name, identifier: memberNames.name(for: parameter.name, "parameter"),
          type: type(parameter.schema, of: "\(place) \(parameter.name)"),
          isRequired: parameter.isRequired, defaultValue: parameter.defaultValue,
          title: parameter.schema.title?.visible, notes: parameter.schema.notes))
    }
    return members
  }

  /// The type of a path segment.
  private func pathType(_ type: CodeType) -> CodeType {
    switch type {
    case .anyValue, .object, .array, .nullable: return .string
    case .string, .integer, .number, .boolean: return type
    case .declared(let index):
      switch declarations[index]?.kind {
      case .alias(let other): return pathType(other)
      case .enumeration: return type
      case .structure, nil: return .string
      }
    }
  }

  mutating func topics(_ topics: [TableTopicDeclaration]) -> [CodeTopic] {
    var codeTopics: [CodeTopic] = []
    for topic in topics {
      codeTopics.append(
        CodeTopic(
          topic: topic, identifier: topicNames.name(for: topic.name, "topic"),
          data: type(topic.data, of: "\(topic.name) data"),
          notes: notes(topic.title, topic.purpose)))
    }
    return codeTopics
  }

  private func notes(_ title: String?, _ purpose: String?) -> [String] {
    let parts = [title, purpose].compactMap { $0?.visibleLines }.filter { !$0.isEmpty }
    return Array(parts.joined(separator: [""]))
  }
}

extension ValueSchema {
  /// The values of an enumeration of only strings or only integers; `nil` for another schema.
  fileprivate var cases: [Value]? {
    guard let allowed else { return nil }
    var cases: [Value] = []
    for value in allowed where !value.isNull && !cases.contains(value) { cases.append(value) }
    let isOfOneKind =
      cases.allSatisfy { $0.string != nil } || cases.allSatisfy { $0.integer != nil }
    return isOfOneKind && !cases.isEmpty ? cases : nil
  }

  /// Whether the schema has its own type in code.
  fileprivate var isDeclared: Bool { cases != nil || (kind == .object && !properties.isEmpty) }

  /// The documentation of the schema, in addition to its type.
  fileprivate var notes: [String] { (title?.visibleLines ?? []) + constraints.map { "\($0)." } }
}

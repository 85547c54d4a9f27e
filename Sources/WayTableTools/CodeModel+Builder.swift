import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayValues

extension CodeModel {
  /// A table in a language. Types of the table are named first, then those that stand where they
  /// are used, in the order of the document: a route that is added at the end changes no name.
  init(_ table: RouteTable, _ language: CodeLanguage) {
    var reader = CodeModelBuilder(language)
    self.init(stamp: table.stamp, language: language)
    reader.add(table.types)
    routes = reader.routes(table.declarations.routes)
    topics = reader.topics(table.topics)
    declarations = reader.declarations.map {
      // A type that is being read when another asks for it is in its place before it is used.
      $0 ?? CodeDeclaration(identifier: "", form: .structure([]), notes: [])
    }
    leftOut = table.declarations.routes.filter { $0.addressed.isEmpty }.map(\.name)
  }
}

extension Route {
  /// The patterns of which the scheme, and thus the URI, is known.
  var addressed: [RoutePattern] { patterns.filter { $0.scheme != nil } }
}

/// Finds out what is to be declared.
private struct CodeModelBuilder {
  private let names: LanguageNames
  /// Whether the page whose method is called is a parameter beside those of the method.
  private let isPageBeside: Bool
  private var typeNames: CodeIdentifiers
  private var functionNames: CodeIdentifiers
  private var topicNames: CodeIdentifiers
  private(set) var declarations: [CodeDeclaration?] = []
  /// The named types, by what the table calls them.
  private var types: [UTF8Key: CodeType] = [:]

  init(_ language: CodeLanguage) {
    isPageBeside = language == .dart || language == .kotlin
    names = language.names
    typeNames = names.typeNames()
    functionNames = names.functionNames()
    topicNames = names.functionNames()
  }

  // MARK: types

  mutating func add(_ named: [(name: String, schema: ValueSchema)]) {
    for type in named {
      types[UTF8Key(type.name)] = .declared(declarations.count)
      declarations.append(
        CodeDeclaration(
          identifier: typeNames.name(for: type.name, "type"), form: .structure([]), notes: []))
    }
    for (index, type) in named.enumerated() {
      guard let identifier = declarations[index]?.identifier else { continue }
      let form =
        structureOrCases(type.schema, of: type.name) ?? .alias(base(type.schema, of: type.name))
      declarations[index] = CodeDeclaration(
        identifier: identifier, form: form, notes: type.schema.notes)
    }
  }

  /// The type of a schema that stands at a place; `place` names it in words.
  mutating func type(_ schema: ValueSchema?, of place: String) -> CodeType {
    guard let schema else { return .anything }
    let found: CodeType
    if let name = schema.typeName, let named = types[UTF8Key(name)] {
      found = named
    } else if schema.isDeclared {
      let index = declarations.count
      declarations.append(nil)
      let identifier = typeNames.name(for: place, "type")
      let form = structureOrCases(schema, of: place) ?? .alias(.anything)
      declarations[index] = CodeDeclaration(
        identifier: identifier, form: form, notes: schema.notes)
      found = .declared(index)
    } else {
      found = base(schema, of: place)
    }
    return schema.isNullable ? .nullable(found) : found
  }

  private mutating func structureOrCases(
    _ schema: ValueSchema, of place: String
  ) -> CodeDeclaration.Form? {
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

  /// The type of what is not declared by itself.
  private mutating func base(_ schema: ValueSchema, of place: String) -> CodeType {
    switch schema.kind {
    case .string: .text
    case .integer: .integer
    case .number: .number
    case .boolean: .truth
    case .array: .list(type(schema.items, of: "\(place) item"))
    case .object: .object
    }
  }

  // MARK: routes

  mutating func routes(_ all: [Route]) -> [CodeRoute] {
    let routes = all.filter { !$0.addressed.isEmpty }
    // Each has its own name before another has a second one.
    let own = routes.map { functionNames.name(for: $0.name, $0.kind.rawValue) }
    var read: [CodeRoute] = []
    for (route, identifier) in zip(routes, own) { read.append(self.route(route, identifier)) }
    return read
  }

  private mutating func route(_ route: Route, _ identifier: String) -> CodeRoute {
    var addresses: [CodeRoute.Address] = []
    for reading in route.addressed.flatMap(\.readings)
    where !addresses.contains(where: { $0.text.isSameUTF8(as: reading.text) }) {
      let name =
        addresses.isEmpty ? identifier : functionNames.name(for: route.name, route.kind.rawValue)
      addresses.append(.init(identifier: name, text: reading.text, names: reading.names))
    }
    let pattern = route.addressed[0]
    let parameters = parameters(
      route.parameters, capturedBy: pattern.readings.map(\.names), of: route.name)
    return CodeRoute(
      route: route, addresses: addresses, ownCount: pattern.readings.count,
      parameters: parameters, result: type(route.result, of: "\(route.name) result"),
      methods: route.methods.map { method(of: route, $0) },
      notes: notes(route.title, route.purpose))
  }

  private mutating func method(of route: Route, _ method: PageMethod) -> CodeMethod {
    let name = "\(route.name) \(method.name)"
    return CodeMethod(
      method: method, identifier: functionNames.name(for: name, "method"),
      parameters: parameters(
        method.parameters, capturedBy: [], of: name, beside: isPageBeside ? ["page"] : []),
      result: type(method.result, of: "\(name) result"),
      notes: notes(method.title, method.purpose))
  }

  /// First what the path takes, from left to right, then the others in their order.
  private mutating func parameters(
    _ declared: [ParameterDeclaration], capturedBy readings: [[String]], of place: String,
    beside others: [String] = []
  ) -> [CodeMember] {
    var memberNames = names.memberNames()
    for other in others { _ = memberNames.name(for: other, "parameter") }
    let captured = readings.first ?? []
    var members = captured.map { name in
      let declaration = declared.first { $0.name.isSameUTF8(as: name) }
      let isAlways = readings.allSatisfy { $0.contains { $0.isSameUTF8(as: name) } }
      let isRest = name == RoutePattern.wildcardName
      let whole = type(declaration?.schema, of: "\(place) \(isRest ? "rest" : name)").unwrapped
      return CodeMember(
        name: name, identifier: memberNames.name(for: isRest ? "rest" : name, "parameter"),
        type: isRest ? .list(.text) : ofPath(whole),
        isRequired: isAlways || declaration?.isRequired == true,
        notes: declaration?.schema.notes ?? [], isRest: isRest)
    }
    for parameter in declared
    where !captured.contains(where: { $0.isSameUTF8(as: parameter.name) }) {
      members.append(
        CodeMember(
          name: parameter.name, identifier: memberNames.name(for: parameter.name, "parameter"),
          type: type(parameter.schema, of: "\(place) \(parameter.name)"),
          isRequired: parameter.isRequired, defaultValue: parameter.defaultValue,
          notes: parameter.schema.notes))
    }
    return members
  }

  /// What can be a segment of a path.
  private func ofPath(_ type: CodeType) -> CodeType {
    switch type {
    case .anything, .object, .list, .nullable: return .text
    case .text, .integer, .number, .truth: return type
    case .declared(let index):
      switch declarations[index]?.form {
      case .alias(let other): return ofPath(other)
      case .enumeration: return type
      case .structure, nil: return .text
      }
    }
  }

  // MARK: topics

  mutating func topics(_ topics: [TableTopicDeclaration]) -> [CodeTopic] {
    var read: [CodeTopic] = []
    for topic in topics {
      read.append(
        CodeTopic(
          topic: topic, identifier: topicNames.name(for: topic.name, "topic"),
          data: type(topic.data, of: "\(topic.name) data"),
          notes: notes(topic.title, topic.purpose)))
    }
    return read
  }

  private func notes(_ title: String?, _ purpose: String?) -> [String] {
    let parts = [title, purpose].compactMap { $0?.visibleLines }.filter { !$0.isEmpty }
    return Array(parts.joined(separator: [""]))
  }
}

extension ValueSchema {
  /// The values of an enumeration: of texts only, or of integers only. Nil for what is none.
  fileprivate var cases: [Value]? {
    guard let allowed else { return nil }
    var cases: [Value] = []
    for value in allowed where !value.isNull && !cases.contains(value) { cases.append(value) }
    let isOfOneKind =
      cases.allSatisfy { $0.string != nil } || cases.allSatisfy { $0.integer != nil }
    return isOfOneKind && !cases.isEmpty ? cases : nil
  }

  /// Whether it is a type of its own in code.
  fileprivate var isDeclared: Bool { cases != nil || (kind == .object && !properties.isEmpty) }

  /// What to say of it beside its type.
  fileprivate var notes: [String] { (title?.visibleLines ?? []) + facts.map { "\($0)." } }
}

import WayPatterns
import WayRouting
import WayValues

/// Generates TypeScript: a type `Routes` for `Bridge<Routes>`, and the constants of the routes.
struct TypeScriptCode {
  private let model: CodeModel

  init(_ model: CodeModel) {
    self.model = model
  }

  var text: String {
    var code = CodeWriter(unit: "  ")
    code.comment(model.heading, mark: "//")
    code.line()
    code.blockComment([
      "The version of the table that this code was generated from: `new Bridge<Routes>({ table })`."
    ])
    code.block("export const table = {", "} as const;") { code in
      code.line("version: \(literal(model.stamp.version)),")
      code.line("hash: \(literal(model.stamp.hash)),")
    }
    for declaration in model.declarations { write(declaration, to: &code) }
    writeRoutes(to: &code)
    writeConstants(to: &code)
    return code.text
  }

  private func write(_ declaration: CodeDeclaration, to code: inout CodeWriter) {
    code.line()
    code.blockComment(declaration.notes)
    switch declaration.kind {
    case .structure(let members):
      code.block("export interface \(declaration.identifier) {") { write(members, to: &$0) }
    case .enumeration(let cases):
      let values = cases.map { $0.value.string.map(literal) ?? $0.value.text }
      code.line("export type \(declaration.identifier) = \(values.joined(separator: " | "));")
    case .alias(let type):
      code.line("export type \(declaration.identifier) = \(name(of: type));")
    }
  }

  private func write(_ members: [CodeMember], to code: inout CodeWriter) {
    for member in members {
      code.blockComment(
        member.notes
          + (member.defaultValue.map {
            ["Default: \($0.visibleText)."]
          } ?? []))
      let mark = member.isRequired ? "" : "?"
      let type = member.isRest ? "string | readonly string[]" : name(of: member.type)
      code.line("\(key(member.name))\(mark): \(type);")
    }
  }

  private func name(of type: CodeType) -> String {
    switch type {
    case .string: "string"
    case .integer, .number: "number"
    case .boolean: "boolean"
    case .anyValue: "unknown"
    case .object: "Record<string, unknown>"
    case .array(let element):
      if case .nullable = element { "(\(name(of: element)))[]" } else { "\(name(of: element))[]" }
    case .declared(let index): model.declaration(index).identifier
    case .nullable(let inner): "\(name(of: inner)) | null"
    }
  }

  private func writeRoutes(to code: inout CodeWriter) {
    code.line()
    code.blockComment(["The pages, tasks and topics of the table: `new Bridge<Routes>()`."])
    code.block("export interface Routes {") { code in
      code.block("pages: {", "};") { code in
        write(model.pages, to: &code) { route, code in write(route.methods, to: &code) }
      }
      code.block("tasks: {", "};") { code in write(model.tasks, to: &code) { _, _ in } }
      code.block("topics: {", "};") { code in
        for topic in model.topics {
          code.blockComment(topic.notes)
          code.line("\(key(topic.topic.name)): \(name(of: topic.data));")
        }
      }
    }
  }

  /// Writes one entry for each form of a URI. If several routes have the same form, the entry
  /// describes the first route that the router tries.
  private func write(
    _ routes: [CodeRoute], to code: inout CodeWriter,
    _ more: (CodeRoute, inout CodeWriter) -> Void
  ) {
    var first: [UTF8Key: CodeRoute] = [:]
    for route in routes {
      for template in route.uriTemplates {
        let key = UTF8Key(template.text)
        if let other = first[key], other.route.priority >= route.route.priority { continue }
        first[key] = route
      }
    }
    for route in routes {
      for template in route.uriTemplates
      where first[UTF8Key(template.text)]?.identifier == route.identifier {
        code.blockComment(route.notes)
        code.block("\(literal(template.text)): {", "};") { code in
          write(parameters: parameters(of: route, at: template), to: &code)
          code.line("result: \(name(of: route.result));")
          more(route, &code)
        }
      }
    }
  }

  /// Parameters in the URI are required. Parameters that only another form captures belong to the
  /// query.
  private func parameters(of route: CodeRoute, at template: CodeRoute.URITemplate) -> [CodeMember] {
    func captures(_ name: String) -> Bool {
      template.parameterNames.contains { $0.isSameUTF8(as: name) }
    }
    var members: [CodeMember] = []
    for name in template.parameterNames {
      let known = route.parameters.first { $0.name.isSameUTF8(as: name) }
      members.append(
        CodeMember(
          name: name, identifier: "", type: known.map { pathType($0.type) } ?? .string,
          isRequired: true, notes: known?.notes ?? [], isRest: name == RoutePattern.wildcardName))
    }
    let declared = route.route.parameters.map(\.name)
    members += route.parameters.filter { member in
      !captures(member.name) && declared.contains { $0.isSameUTF8(as: member.name) }
    }
    return members
  }

  private func pathType(_ type: CodeType) -> CodeType {
    switch type.unwrapped {
    case .object, .anyValue, .array: .string
    default: type.unwrapped
    }
  }

  private func write(parameters: [CodeMember], to code: inout CodeWriter) {
    guard !parameters.isEmpty else { return code.line("params: Record<string, never>;") }
    code.block("params: {", "};") { write(parameters, to: &$0) }
  }

  private func write(_ methods: [CodeMethod], to code: inout CodeWriter) {
    guard !methods.isEmpty else { return code.line("methods: {};") }
    code.block("methods: {", "};") { code in
      for method in methods {
        code.blockComment(method.notes)
        code.block("\(key(method.method.name)): {", "};") { code in
          write(parameters: method.parameters, to: &code)
          code.line("result: \(name(of: method.result));")
        }
      }
    }
  }

  private func writeConstants(to code: inout CodeWriter) {
    code.line()
    code.blockComment(["The patterns of the routes, by the names of the routes."])
    code.block("export const routes = {", "} as const;") { code in
      for route in model.routes {
        for template in route.uriTemplates {
          code.blockComment(route.notes)
          code.line("\(template.identifier): \(literal(template.text)),")
        }
      }
    }
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }

  /// A property name, in quotation marks unless it only has ASCII letters, digits, `_` and `$`.
  private func key(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && name.utf8.first.map { !(0x30...0x39).contains($0) } == true
      && name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F || $0 == 0x24
      }
    return isPlain ? name : literal(name)
  }
}

import WayPatterns
import WayRouting
import WayValues

/// A table as TypeScript: a type `Routes` for `Bridge<Routes>`, and the constants of the routes.
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
      "Which state of the table this is made from: `new Bridge<Routes>({ table })`."
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
    switch declaration.form {
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
            ["Where it is left out: \($0.visibleText)."]
          } ?? []))
      let mark = member.isRequired ? "" : "?"
      let type = member.isRest ? "string | readonly string[]" : name(of: member.type)
      code.line("\(key(member.name))\(mark): \(type);")
    }
  }

  private func name(of type: CodeType) -> String {
    switch type {
    case .text: "string"
    case .integer, .number: "number"
    case .truth: "boolean"
    case .anything: "unknown"
    case .object: "Record<string, unknown>"
    case .list(let element):
      if case .nullable = element { "(\(name(of: element)))[]" } else { "\(name(of: element))[]" }
    case .declared(let index): model.declaration(index).identifier
    case .nullable(let inner): "\(name(of: inner)) | null"
    }
  }

  // MARK: routes

  private func writeRoutes(to code: inout CodeWriter) {
    code.line()
    code.blockComment(["What can be opened, run and listened to: `new Bridge<Routes>()`."])
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

  /// One entry for each way to write a URI. Where several routes have the same, the first that the
  /// router tries says what it is.
  private func write(
    _ routes: [CodeRoute], to code: inout CodeWriter,
    _ more: (CodeRoute, inout CodeWriter) -> Void
  ) {
    var first: [UTF8Key: CodeRoute] = [:]
    for route in routes {
      for address in route.addresses {
        let key = UTF8Key(address.text)
        if let other = first[key], other.route.priority >= route.route.priority { continue }
        first[key] = route
      }
    }
    for route in routes {
      for address in route.addresses
      where first[UTF8Key(address.text)]?.identifier == route.identifier {
        code.blockComment(route.notes)
        code.block("\(literal(address.text)): {", "};") { code in
          write(parameters: parameters(of: route, at: address), to: &code)
          code.line("result: \(name(of: route.result));")
          more(route, &code)
        }
      }
    }
  }

  /// Those that the address takes have to be there. Those that only another takes are for the query.
  private func parameters(of route: CodeRoute, at address: CodeRoute.Address) -> [CodeMember] {
    func takes(_ name: String) -> Bool { address.names.contains { $0.isSameUTF8(as: name) } }
    var members: [CodeMember] = []
    for name in address.names {
      let known = route.parameters.first { $0.name.isSameUTF8(as: name) }
      members.append(
        CodeMember(
          name: name, identifier: "", type: known.map { pathType($0.type) } ?? .text,
          isRequired: true, notes: known?.notes ?? [], isRest: name == RoutePattern.wildcardName))
    }
    let declared = route.route.parameters.map(\.name)
    members += route.parameters.filter { member in
      !takes(member.name) && declared.contains { $0.isSameUTF8(as: member.name) }
    }
    return members
  }

  private func pathType(_ type: CodeType) -> CodeType {
    switch type.unwrapped {
    case .object, .anything, .list: .text
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
        for address in route.addresses {
          code.blockComment(route.notes)
          code.line("\(address.identifier): \(literal(address.text)),")
        }
      }
    }
  }

  // MARK: names

  private func literal(_ text: String) -> String { model.language.literal(text) }

  /// A name of a property, in quotation marks where it is none of ASCII letters and digits.
  private func key(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && name.utf8.first.map { !(0x30...0x39).contains($0) } == true
      && name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F || $0 == 0x24
      }
    return isPlain ? name : literal(name)
  }
}

import WayValues

/// Generates Swift: typed calls for `open`, `invoke` and `call` of the server library and the Swift
/// client.
struct SwiftCode {
  private let model: CodeModel
  private let module: String

  /// `module` is the module that the code imports.
  init(_ model: CodeModel, module: String) {
    self.model = model
    self.module = module
  }

  var text: String {
    var code = CodeWriter(unit: "  ")
    code.line("// swift-format-ignore-file")
    code.comment(model.heading, mark: "//")
    code.line()
    code.line("import \(module)")
    code.line()
    writeConstants(to: &code)
    for declaration in model.declarations {
      code.line()
      write(declaration, to: &code)
    }
    for page in model.pages {
      write(page, as: "PageCall", page.result.unwrapped, to: &code)
      for method in page.methods { write(method, to: &code) }
    }
    for task in model.tasks { write(task, as: "ValueCall", task.result, to: &code) }
    for topic in model.topics {
      code.line()
      code.block("extension EventTopic where Data == \(name(of: topic.data)) {") { code in
        code.comment(topic.notes, mark: "///")
        code.line(
          "public static var \(topic.identifier): EventTopic { EventTopic(\(literal(topic.topic.name))) }"
        )
      }
    }
    return code.text
  }

  private func writeConstants(to code: inout CodeWriter) {
    code.comment(["The patterns of the routes, by the names of the routes."], mark: "///")
    code.block("public enum Routes {") { code in
      code.comment(["The version of the table that this code was generated from."], mark: "///")
      code.line(
        "public static let table = TableStamp(version: \(literal(model.stamp.version)), "
          + "hash: \(literal(model.stamp.hash)))")
      for route in model.routes {
        for template in route.uriTemplates {
          code.comment(route.notes, mark: "///")
          code.line("public static let \(template.identifier) = \(literal(template.text))")
        }
      }
    }
  }

  private func write(_ declaration: CodeDeclaration, to code: inout CodeWriter) {
    let type = declaration.identifier
    code.comment(declaration.notes, mark: "///")
    switch declaration.kind {
    case .structure(let members):
      code.block("public struct \(type): Codable, Hashable, Sendable {") { write(members, to: &$0) }
    case .enumeration(let cases):
      let isText = cases.first?.value.string != nil
      let raw = isText ? "String" : "Int"
      code.block("public enum \(type): \(raw), Codable, Hashable, Sendable, CaseIterable {") {
        code in
        for one in cases {
          code.line("case \(one.identifier) = \(one.value.string.map(literal) ?? one.value.text)")
        }
      }
    case .alias(let other): code.line("public typealias \(type) = \(name(of: other))")
    }
  }

  private func write(_ members: [CodeMember], to code: inout CodeWriter) {
    for member in members {
      code.comment(member.notes, mark: "///")
      code.line("public var \(member.identifier): \(name(of: member))")
    }
    code.line()
    let parameters = members.map {
      "\($0.identifier): \(name(of: $0))\($0.isRequired ? "" : " = nil")"
    }
    code.block("public init(\(parameters.joined(separator: ", "))) {") { code in
      for member in members { code.line("self.\(member.identifier) = \(member.identifier)") }
    }
    code.line()
    code.block("private enum CodingKeys: String, CodingKey {") { code in
      for member in members { code.line("case \(member.identifier) = \(literal(member.name))") }
    }
    // The synthesized method omits null.
    guard members.contains(where: { $0.isRequired && $0.type.isNullable }) else { return }
    code.line()
    code.block("public func encode(to encoder: any Encoder) throws {") { code in
      code.line("var members = encoder.container(keyedBy: CodingKeys.self)")
      for member in members {
        let encode = member.isRequired ? "encode" : "encodeIfPresent"
        code.line("try members.\(encode)(self.\(member.identifier), forKey: .\(member.identifier))")
      }
    }
  }

  private func name(of member: CodeMember) -> String {
    member.isRequired ? name(of: member.type) : name(of: member.type.unwrapped) + "?"
  }

  private func name(of type: CodeType) -> String {
    switch type {
    case .string: "String"
    case .integer: "Int"
    case .number: "Double"
    case .boolean: "Bool"
    case .anyValue: "Value"
    case .object: "[String: Value]"
    case .array(let element): "[\(name(of: element))]"
    case .declared(let index): model.declaration(index).identifier
    case .nullable(let inner): name(of: inner) + "?"
    }
  }

  private func write(
    _ route: CodeRoute, as call: String, _ result: CodeType, to code: inout CodeWriter
  ) {
    let patterns = route.uriTemplates.prefix(route.primaryCount).map { literal($0.text) }
    write(
      call, result, route.identifier, route.parameters, route.notes,
      "[\(patterns.joined(separator: ", "))]", to: &code)
  }

  private func write(_ method: CodeMethod, to code: inout CodeWriter) {
    write(
      "PageMethodCall", method.result, method.identifier, method.parameters, method.notes,
      literal(method.method.name), to: &code)
  }

  private func write(
    _ call: String, _ result: CodeType, _ identifier: String, _ parameters: [CodeMember],
    _ notes: [String], _ target: String, to code: inout CodeWriter
  ) {
    code.line()
    code.block("extension \(call) where Result == \(name(of: result)) {") { code in
      code.comment(notes, mark: "///")
      let explained = parameters.filter { !$0.explanation.isEmpty }
      if !explained.isEmpty, !notes.isEmpty { code.line("///") }
      code.comment(
        explained.map { "- Parameter \($0.identifier): \($0.explanation)" }, mark: "///")
      let list = parameters.map(parameter).joined(separator: ", ")
      code.block("public static func \(identifier)(\(list)) -> \(call) {") { code in
        let given = parameters.map { "\(literal($0.name)): \(argument($0))" }
        let rest = given.isEmpty ? "" : ", [\(given.joined(separator: ", "))]"
        code.line("\(call)(\(target)\(rest))")
      }
    }
  }

  private func parameter(_ member: CodeMember) -> String {
    if member.isRequired { return "\(member.identifier): \(name(of: member.type))" }
    if let value = literal(of: member) {
      return "\(member.identifier): \(name(of: member.type)) = \(value)"
    }
    return "\(member.identifier): \(name(of: member.type.unwrapped))? = nil"
  }

  /// The argument to send: null if the member cannot be left out.
  private func argument(_ member: CodeMember) -> String {
    guard member.type.isNullable, member.isRequired || literal(of: member) != nil else {
      return member.identifier
    }
    return "\(member.identifier).map { $0 as any Encodable } ?? Value.null"
  }

  private func literal(of member: CodeMember) -> String? {
    model.literal(ofDefault: member) { _, identifier in ".\(identifier)" }
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }
}

import WayValues

/// Generates Kotlin: types, and an extension function for each call, based on a small interface
/// that the file declares.
struct KotlinCode {
  private let model: CodeModel
  private let package: String?

  /// `package` is the package of the file; `nil` for none.
  init(_ model: CodeModel, package: String?) {
    self.model = model
    self.package = package
  }

  var text: String {
    var code = CodeWriter(unit: "    ")
    code.comment(model.heading, mark: "//")
    code.line()
    code.line("@file:Suppress(\"NAME_SHADOWING\", \"unused\")")
    code.line()
    if let package {
      code.line("package \(package)")
      code.line()
    }
    writeConstants(to: &code)
    code.line()
    code.verbatim(Self.clientInterface)
    for declaration in model.declarations {
      code.line()
      write(declaration, to: &code)
    }
    for page in model.pages {
      write(page, to: &code)
      for method in page.methods { write(method, to: &code) }
    }
    for task in model.tasks { write(task, to: &code) }
    for topic in model.topics { write(topic, to: &code) }
    code.line()
    code.verbatim(Self.runtimeHelpers)
    return code.text
  }

  private func writeConstants(to code: inout CodeWriter) {
    code.blockComment(["The patterns of the routes, by the names of the routes."])
    code.block("object Routes {") { code in
      code.blockComment(["The version of the table that this code was generated from."])
      code.line("const val tableVersion: String = \(literal(model.stamp.version))")
      code.line("const val tableHash: String = \(literal(model.stamp.hash))")
      for route in model.routes {
        for template in route.uriTemplates {
          code.blockComment(route.notes)
          code.line("const val \(template.identifier): String = \(literal(template.text))")
        }
      }
    }
  }

  private func write(_ declaration: CodeDeclaration, to code: inout CodeWriter) {
    let type = declaration.identifier
    code.blockComment(declaration.notes)
    switch declaration.kind {
    case .structure(let members):
      code.block("data class \(type)(", ") {") { code in
        for member in members {
          code.blockComment(member.notes)
          let rest = member.isRequired ? "" : " = null"
          code.line("val \(member.identifier): \(name(of: member))\(rest),")
        }
      }
      code.finishBlock { write(members, type, to: &$0) }
    case .enumeration(let cases):
      let isText = cases.first?.value.string != nil
      code.block("enum class \(type)(val json: \(isText ? "String" : "Long")) {") { code in
        for one in cases { code.line("\(one.identifier)(\(literal(one.value))),") }
        code.line(";")
        code.line()
        code.block("companion object {") { code in
          code.block("fun read(json: Any?, path: String): \(type) {") { code in
            let given = isText ? "json" : "(json as? Number)?.toLong()"
            code.line("val given = \(given)")
            code.line("for (one in \(type).values()) if (one.json == given) return one")
            code.line("unfit(path, \"one of the values that the table lists\", json)")
          }
        }
      }
    case .alias(let other): code.line("typealias \(type) = \(name(of: other))")
    }
  }

  private func write(_ members: [CodeMember], _ type: String, to code: inout CodeWriter) {
    code.block("fun toJson(): Map<String, Any?> = membersOf(", ")") { code in
      for member in members {
        let field = "this.\(member.identifier)"
        let value =
          member.isRequired
          ? encoded(field, member.type)
          : encoded(field, .nullable(member.type.unwrapped)) + " ?: LeftOut"
        code.line("\(literal(member.name)) to (\(value)),")
      }
    }
    code.line()
    code.block("companion object {") { code in
      code.block("fun read(json: Any?, path: String): \(type) {") { code in
        code.line("val members = readObject(json, path)")
        code.block("return \(type)(", ")") { code in
          for member in members {
            let type = member.isRequired ? member.type : .nullable(member.type.unwrapped)
            let key = literal(member.name)
            code.line(read("members[\(key)]", "memberPath(path, \(key))", type) + ",")
          }
        }
      }
    }
  }

  private func name(of member: CodeMember) -> String {
    name(of: member.isRequired ? member.type : .nullable(member.type.unwrapped))
  }

  func name(of type: CodeType) -> String {
    switch type {
    case .string: return "String"
    case .integer: return "Long"
    case .number: return "Double"
    case .boolean: return "Boolean"
    case .anyValue: return "Any?"
    case .object: return "Map<String, Any?>"
    case .array(let element): return "List<\(name(of: element))>"
    case .declared(let index): return model.declaration(index).identifier
    case .nullable(let inner):
      let name = name(of: inner)
      return name.hasSuffix("?") ? name : name + "?"
    }
  }

  /// An expression that reads a JSON value at a path as a type.
  private func read(_ json: String, _ path: String, _ type: CodeType) -> String {
    switch type {
    case .string: return "readText(\(json), \(path))"
    case .integer: return "readInteger(\(json), \(path))"
    case .number: return "readNumber(\(json), \(path))"
    case .boolean: return "readTruth(\(json), \(path))"
    case .anyValue: return json
    case .object: return "readObject(\(json), \(path))"
    case .array(let element):
      return "readList(\(json), \(path)) { json, path -> \(read("json", "path", element)) }"
    case .nullable(.anyValue): return json
    case .nullable(let inner):
      return "readOrNull(\(json), \(path)) { json, path -> \(read("json", "path", inner)) }"
    case .declared(let index):
      let declaration = model.declaration(index)
      if case .alias(let other) = declaration.kind { return read(json, path, other) }
      return "\(declaration.identifier).read(\(json), \(path))"
    }
  }

  /// An expression that converts a value of a type to JSON.
  func encoded(_ value: String, _ type: CodeType) -> String {
    switch type {
    case .string, .integer, .number, .boolean, .anyValue, .object: return value
    case .array(let element):
      let inner = encoded("one", element)
      return inner == "one" ? value : "\(value).map { one -> \(inner) }"
    case .nullable(let inner):
      let some = encoded("some", inner)
      return some == "some" ? value : "\(value)?.let { some -> \(some) }"
    case .declared(let index):
      switch model.declaration(index).kind {
      case .structure: return "\(value).toJson()"
      case .enumeration: return "\(value).json"
      case .alias(let other): return encoded(value, other)
      }
    }
  }

  /// The name of the function that calls a route.
  func callName(of route: CodeRoute) -> String {
    (route.isPage ? "open" : "invoke") + capitalized(route.identifier)
  }

  private func write(_ route: CodeRoute, to code: inout CodeWriter) {
    let patterns = route.uriTemplates.prefix(route.primaryCount).map { literal($0.text) }
    let result = route.isPage ? route.result.unwrapped : route.result
    let verb = route.isPage ? "open" : "invoke"
    writeCall(
      route.isPage ? "PageOutcome<\(name(of: result))>" : name(of: result),
      callName(of: route), nil, route.parameters, route.notes,
      "\(verb)Route(listOf(\(patterns.joined(separator: ", "))), ", result, to: &code)
  }

  private func write(_ method: CodeMethod, to code: inout CodeWriter) {
    writeCall(
      name(of: method.result), "call" + capitalized(method.identifier), "page: String",
      method.parameters, method.notes, "callMethod(page, \(literal(method.method.name)), ",
      method.result, to: &code)
  }

  private func writeCall(
    _ result: String, _ name: String, _ first: String?, _ parameters: [CodeMember],
    _ notes: [String], _ call: String, _ type: CodeType, to code: inout CodeWriter
  ) {
    code.line()
    let explained = parameters.filter { !$0.explanation.isEmpty }
    code.blockComment(
      notes + (explained.isEmpty || notes.isEmpty ? [] : [""])
        + explained.map { "@param \($0.identifier) \($0.explanation)" })
    let list = ([first].compactMap { $0 } + parameters.map(parameter)).joined(separator: ", ")
    code.line("suspend fun RouteClient.\(name)(\(list)): \(result) =")
    let given = parameters.map(argument).joined(separator: ", ")
    code.line(
      "    \(call)membersOf(\(given))) { json, path -> \(read("json", "path", type)) }")
  }

  private func parameter(_ member: CodeMember) -> String {
    if member.isRequired { return "\(member.identifier): \(name(of: member.type))" }
    if let value = literal(of: member) {
      return "\(member.identifier): \(name(of: member.type)) = \(value)"
    }
    return "\(member.identifier): \(name(of: .nullable(member.type.unwrapped))) = null"
  }

  private func argument(_ member: CodeMember) -> String {
    let (key, name) = (literal(member.name), member.identifier)
    guard !member.isRequired, literal(of: member) == nil else {
      return "\(key) to (\(encoded(name, member.type)))"
    }
    return "\(key) to (\(encoded(name, .nullable(member.type.unwrapped))) ?: LeftOut)"
  }

  private func literal(of member: CodeMember) -> String? {
    model.literal(ofDefault: member) { type, identifier in "\(type).\(identifier)" }
  }

  private func write(_ topic: CodeTopic, to code: inout CodeWriter) {
    code.line()
    code.blockComment(topic.notes)
    let (name, type) = (literal(topic.topic.name), self.name(of: topic.data))
    code.line(
      "fun RouteClient.on\(capitalized(topic.identifier))(listener: (\(type)) -> Unit): AutoCloseable ="
    )
    code.line("    listen(\(name)) { json -> listener(\(read("json", name, topic.data))) }")
    code.line()
    code.blockComment(topic.notes)
    code.line(
      "suspend fun RouteClient.publish\(capitalized(topic.identifier))(data: \(type)) {")
    code.line("    publish(\(name), \(encoded("data", topic.data)))")
    code.line("}")
  }

  func literal(_ value: Value) -> String {
    value.string.map(literal) ?? value.integer.map(model.language.literal) ?? value.text
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }

  private func capitalized(_ name: String) -> String {
    guard let first = name.unicodeScalars.first, first.isASCII else { return name }
    return name.prefix(1).uppercased() + name.dropFirst()
  }
}

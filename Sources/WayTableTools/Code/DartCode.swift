import WayValues

/// Generates Dart: types, and an extension with a method for each call, based on a small interface
/// that the file declares.
struct DartCode {
  private let model: CodeModel

  init(_ model: CodeModel) {
    self.model = model
  }

  var text: String {
    var code = CodeWriter(unit: "  ")
    code.line("// ignore_for_file: type=lint, unused_element")
    code.comment(model.heading, mark: "//")
    code.line()
    writeConstants(to: &code)
    code.line()
    code.verbatim(Self.clientInterface)
    for declaration in model.declarations {
      code.line()
      write(declaration, to: &code)
    }
    code.line()
    code.comment(["The routes, methods of pages and topics of the table."], mark: "///")
    code.block("extension TypedRoutes on RouteClient {") { code in
      for page in model.pages {
        write(page, to: &code)
        for method in page.methods { write(method, to: &code) }
      }
      for task in model.tasks { write(task, to: &code) }
      for topic in model.topics { write(topic, to: &code) }
    }
    code.line()
    code.verbatim(Self.runtimeHelpers)
    return code.text
  }

  private func writeConstants(to code: inout CodeWriter) {
    code.comment(["The patterns of the routes, by the names of the routes."], mark: "///")
    code.block("class Routes {") { code in
      code.line("const Routes._();")
      code.comment(["The version of the table that this code was generated from."], mark: "///")
      code.line("static const String tableVersion = \(literal(model.stamp.version));")
      code.line("static const String tableHash = \(literal(model.stamp.hash));")
      for route in model.routes {
        for template in route.uriTemplates {
          code.comment(route.notes, mark: "///")
          code.line("static const String \(template.identifier) = \(literal(template.text));")
        }
      }
    }
  }

  private func write(_ declaration: CodeDeclaration, to code: inout CodeWriter) {
    let type = declaration.identifier
    code.comment(declaration.notes, mark: "///")
    switch declaration.kind {
    case .structure(let members): code.block("class \(type) {") { write(members, type, to: &$0) }
    case .enumeration(let cases):
      let isText = cases.first?.value.string != nil
      code.block("enum \(type) {") { code in
        for (index, one) in cases.enumerated() {
          let value = one.value.string.map(literal) ?? one.value.text
          code.line("\(one.identifier)(\(value))\(index < cases.count - 1 ? "," : ";")")
        }
        code.line()
        code.line("const \(type)(this.value);")
        code.line("final \(isText ? "String" : "int") value;")
        code.line()
        code.block("static \(type) read(Object? json, String path) {") { code in
          code.block("for (final one in \(type).values) {") { code in
            code.line("if (one.value == json) return one;")
          }
          code.line("return _unfit(path, \"one of the values that the table lists\", json);")
        }
      }
    case .alias(let other): code.line("typedef \(type) = \(name(of: other));")
    }
  }

  private func write(_ members: [CodeMember], _ type: String, to code: inout CodeWriter) {
    for member in members {
      code.comment(member.notes, mark: "///")
      code.line("final \(name(of: member)) \(member.identifier);")
    }
    let parameters = members.map {
      "\($0.isRequired ? "required " : "")this.\($0.identifier)"
    }
    code.line()
    code.line("const \(type)({\(parameters.joined(separator: ", "))});")
    code.line()
    code.block("static \(type) read(Object? json, String path) {") { code in
      code.line("final members = _object(json, path);")
      code.block("return \(type)(", ");") { code in
        for member in members {
          let type = member.isRequired ? member.type : .nullable(member.type.unwrapped)
          let key = literal(member.name)
          code.line(
            "\(member.identifier): \(reader(of: type))(members[\(key)], _at(path, \(key))),")
        }
      }
    }
    code.line()
    code.block("Map<String, Object?> toJson() => {", "};") { code in
      for member in members {
        let key = literal(member.name)
        let field = "this.\(member.identifier)"
        if member.isRequired {
          code.line("\(key): \(encoded(field, member.type)),")
        } else {
          code.line("if (\(field) != null) \(key): \(encoded(field + "!", member.type.unwrapped)),")
        }
      }
    }
  }

  private func name(of member: CodeMember) -> String {
    name(of: member.isRequired ? member.type : .nullable(member.type.unwrapped))
  }

  private func name(of type: CodeType) -> String {
    switch type {
    case .string: return "String"
    case .integer: return "int"
    case .number: return "double"
    case .boolean: return "bool"
    case .anyValue: return "Object?"
    case .object: return "Map<String, Object?>"
    case .array(let element): return "List<\(name(of: element))>"
    case .declared(let index): return model.declaration(index).identifier
    case .nullable(let inner):
      let name = name(of: inner)
      return name.hasSuffix("?") ? name : name + "?"
    }
  }

  /// The function that reads a JSON value as a type. Its second argument is the path of the value.
  private func reader(of type: CodeType) -> String {
    switch type {
    case .string: return "_text"
    case .integer: return "_integer"
    case .number: return "_number"
    case .boolean: return "_truth"
    case .anyValue: return "_anything"
    case .object: return "_object"
    case .array(let element): return "_listOf(\(reader(of: element)))"
    case .nullable(let inner): return "_orNull(\(reader(of: inner)))"
    case .declared(let index):
      let declaration = model.declaration(index)
      if case .alias(let other) = declaration.kind { return reader(of: other) }
      return "\(declaration.identifier).read"
    }
  }

  /// An expression that converts a value of a type to JSON.
  private func encoded(_ value: String, _ type: CodeType) -> String {
    switch type {
    case .string, .integer, .number, .boolean, .anyValue, .object: return value
    case .array(let element):
      let inner = encoded("one", element)
      return inner == "one" ? value : "\(value).map((one) => \(inner)).toList()"
    case .nullable(let inner):
      let some = encoded("\(value)!", inner)
      return some == "\(value)!" ? value : "\(value) == null ? null : \(some)"
    case .declared(let index):
      switch model.declaration(index).kind {
      case .structure: return "\(value).toJson()"
      case .enumeration: return "\(value).value"
      case .alias(let other): return encoded(value, other)
      }
    }
  }

  private func write(_ route: CodeRoute, to code: inout CodeWriter) {
    let patterns = route.uriTemplates.prefix(route.primaryCount).map { literal($0.text) }
    let target = "const [\(patterns.joined(separator: ", "))]"
    let result = route.isPage ? route.result.unwrapped : route.result
    let type = name(of: result)
    writeCall(
      route.isPage ? "Future<PageOutcome<\(type)>>" : "Future<\(type)>",
      (route.isPage ? "open" : "invoke") + capitalized(route.identifier), nil, route.parameters,
      route.notes, "_\(route.isPage ? "open" : "invoke")(this, \(target), ", result, to: &code)
  }

  private func write(_ method: CodeMethod, to code: inout CodeWriter) {
    writeCall(
      "Future<\(name(of: method.result))>", "call" + capitalized(method.identifier), "String page",
      method.parameters, method.notes, "_call(this, page, \(literal(method.method.name)), ",
      method.result, to: &code)
  }

  private func writeCall(
    _ result: String, _ name: String, _ first: String?, _ parameters: [CodeMember],
    _ notes: [String], _ call: String, _ type: CodeType, to code: inout CodeWriter
  ) {
    code.line()
    code.comment(notes, mark: "///")
    let explained = parameters.filter { !$0.explanation.isEmpty }
    if !explained.isEmpty, !notes.isEmpty { code.line("///") }
    code.comment(explained.map { "* [\($0.identifier)]: \($0.explanation)" }, mark: "///")
    let list = parameters.map(parameter).joined(separator: ", ")
    let all = [first, list.isEmpty ? nil : "{\(list)}"].compactMap { $0 }.joined(separator: ", ")
    code.line("\(result) \(name)(\(all)) =>")
    let given = parameters.map(argument).joined(separator: ", ")
    code.line("    \(call){\(given)}, \(reader(of: type)));")
  }

  private func parameter(_ member: CodeMember) -> String {
    if member.isRequired { return "required \(name(of: member.type)) \(member.identifier)" }
    if let value = literal(of: member) {
      return "\(name(of: member.type)) \(member.identifier) = \(value)"
    }
    return "\(name(of: .nullable(member.type.unwrapped))) \(member.identifier)"
  }

  private func argument(_ member: CodeMember) -> String {
    let (key, name) = (literal(member.name), member.identifier)
    guard !member.isRequired, literal(of: member) == nil else {
      return "\(key): \(encoded(name, member.type))"
    }
    return "if (\(name) != null) \(key): \(encoded(name, member.type.unwrapped))"
  }

  private func literal(of member: CodeMember) -> String? {
    model.literal(ofDefault: member) { type, identifier in "\(type).\(identifier)" }
  }

  private func write(_ topic: CodeTopic, to code: inout CodeWriter) {
    code.line()
    code.comment(topic.notes, mark: "///")
    let name = literal(topic.topic.name)
    code.line("Stream<\(self.name(of: topic.data))> get on\(capitalized(topic.identifier)) =>")
    code.line("    events(\(name)).map((json) => \(reader(of: topic.data))(json, \(name)));")
    code.line()
    code.comment(topic.notes, mark: "///")
    code.line(
      "Future<void> publish\(capitalized(topic.identifier))(\(self.name(of: topic.data)) data) =>")
    code.line("    publish(\(name), \(encoded("data", topic.data)));")
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }

  private func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }
}

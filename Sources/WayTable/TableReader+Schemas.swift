import WayRouting
import WayValues

/// What is read of JSON Schema.
extension TableReader {
  /// How deep schemas may be nested.
  private static let maxDepth = 16
  private static let typesPrefix = "#/types/"
  /// What each kind has beside `type`, `title` and `enum`.
  private static let members: [ValueSchema.Kind: [String]] = [
    .string: ["format", "minLength", "maxLength"], .integer: ["minimum", "maximum"],
    .number: ["minimum", "maximum"], .boolean: [], .array: ["items", "minItems", "maxItems"],
    .object: ["properties", "required", "additionalProperties"],
  ]
  private static let known = [
    "$ref", "type", "title", "enum", "format", "minLength", "maxLength", "minimum", "maximum",
    "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
  ]

  /// The named types of the document, by their names in its order; those with faults are left out.
  mutating func namedTypes(of document: ValueObject) -> [(name: String, schema: ValueSchema)] {
    let path = JSONPath.root.member("types")
    guard let value = document["types"], let object = object(value, at: path) else { return [] }
    for member in object.members { typeSources[UTF8Key(member.name)] = member.value }
    return object.members.compactMap { member in
      if member.name.isEmpty {
        fault(path, "a type needs a name")
        return nil
      }
      return namedType(member.name).map { (member.name, $0) }
    }
  }

  private mutating func namedType(_ name: String) -> ValueSchema? {
    if let read = types[UTF8Key(name)] { return read }
    guard let source = typeSources[UTF8Key(name)] else { return nil }
    open.append(name)
    let schema = schema(
      source, at: JSONPath.root.member("types").member(name), depth: 0, typeName: name)
    open.removeLast()
    types.updateValue(schema, forKey: UTF8Key(name))
    return schema
  }

  /// A schema, with members of its own beside those that every schema has.
  mutating func schema(
    _ value: Value, at path: JSONPath, beside others: [String] = [], depth: Int = 0,
    typeName: String? = nil
  ) -> ValueSchema? {
    guard let object = object(value, at: path, known: Self.known + others) else { return nil }
    guard depth < Self.maxDepth else {
      fault(path, "is nested deeper than \(Self.maxDepth) levels; take some out, or flatten it")
      return nil
    }
    if object["$ref"] != nil { return reference(object, at: path) }
    let title = text("title", of: object, at: path)
    let allowed = object["enum"].flatMap { list($0, at: path.member("enum")) }
    guard let (kind, isNullable) = kind(of: object, at: path) else { return nil }
    for name in Self.known.dropFirst(4)
    where object[name] != nil && Self.members[kind]?.contains(name) != true {
      fault(path.member(name), Self.misplaced(name, kind, object[name]))
    }
    let counted = kind == .array ? "Items" : "Length"
    let count = ValueSchema.Bounds(
      from: size("min\(counted)", of: object, at: path),
      to: size("max\(counted)", of: object, at: path))
    let schema = ValueSchema(
      kind, isNullable: isNullable, title: title, typeName: typeName, allowed: allowed,
      format: optionalChoice("format", of: object, at: path, as: ValueSchema.Format.self),
      range: .init(
        from: number("minimum", of: object, at: path), to: number("maximum", of: object, at: path)),
      count: count,
      items: object["items"].flatMap {
        self.schema($0, at: path.member("items"), depth: depth + 1)
      },
      properties: kind == .object ? properties(of: object, at: path, depth: depth) : [],
      isClosed: bool("additionalProperties", of: object, at: path) == false)
    if let reason = schema.contradiction { fault(path, reason) }
    return schema
  }

  private static func misplaced(
    _ name: String, _ kind: ValueSchema.Kind, _ value: Value?
  ) -> String {
    if name == "required", value?.bool != nil {
      return "what has to be there is listed beside 'parameters' or 'properties': \"required\": […]"
    }
    return "does not go with the type '\(kind.rawValue)'"
  }

  /// What `$ref` names.
  private mutating func reference(_ object: ValueObject, at path: JSONPath) -> ValueSchema? {
    for member in object.members where !["$ref", "title", "default"].contains(member.name) {
      fault(path.member(member.name), "does not go with '$ref', which says all but the title")
    }
    let title = text("title", of: object, at: path)
    guard let text = text("$ref", of: object, at: path) else { return nil }
    let path = path.member("$ref")
    let names = typeSources.keys.map(\.text)
    guard text.hasPrefix(Self.typesPrefix) else {
      fault(path, "'\(text)' is no type of this table; write \(Self.typesPrefix)NAME")
      return nil
    }
    let name = String(text.dropFirst(Self.typesPrefix.count))
    guard typeSources[UTF8Key(name)] != nil else {
      unknown(name, at: path, of: names.sorted())
      return nil
    }
    guard !open.contains(where: name.isSameUTF8) else {
      fault(
        path,
        "'\(name)' holds itself: \((open + [name]).joined(separator: " → ")); break the circle")
      return nil
    }
    let schema = namedType(name)
    return title.map { schema?.titled($0) } ?? schema
  }

  /// The word, or the word beside "null".
  private mutating func kind(
    of object: ValueObject, at path: JSONPath
  ) -> (kind: ValueSchema.Kind, isNullable: Bool)? {
    guard let list = object["type"]?.list else {
      return choice("type", of: object, at: path, as: ValueSchema.Kind.self).map { ($0, false) }
    }
    let words = list.compactMap(\.string)
    let kinds = words.compactMap(ValueSchema.Kind.init)
    guard list.count == 2, words.count == 2, words.contains("null"), kinds.count == 1 else {
      fault(path.member("type"), "has to be one type, or a list of one type and \"null\"")
      return nil
    }
    return (kinds[0], true)
  }

  private mutating func properties(
    of object: ValueObject, at path: JSONPath, depth: Int
  ) -> [ValueSchema.Property] {
    var members: [ValueObject.Member] = []
    let place = path.member("properties")
    if let value = object["properties"] { members = self.object(value, at: place)?.members ?? [] }
    let required = required(of: object, at: path, among: members.map(\.name))
    return members.compactMap { member in
      schema(member.value, at: place.member(member.name), depth: depth + 1).map {
        .init(member.name, $0, isRequired: required.contains(UTF8Key(member.name)))
      }
    }
  }

  /// The names in `required`, each of which has to be declared.
  private mutating func required(
    of object: ValueObject, at path: JSONPath, among names: [String]
  ) -> Set<UTF8Key> {
    let required = distinctTexts("required", of: object, at: path)
    for name in required where !names.contains(where: name.isSameUTF8) {
      fault(
        path.member("required"),
        "'\(name)' is not declared here;\(NearMiss.hint(for: name, among: names)) declare it, or take it out"
      )
    }
    return Set(required.map(UTF8Key.init))
  }

  private mutating func size(_ name: String, of object: ValueObject, at path: JSONPath) -> Int? {
    guard let size = integer(name, of: object, at: path) else { return nil }
    if size < 0 { fault(path.member(name), "must not be negative") }
    return size
  }

  private mutating func number(_ name: String, of object: ValueObject, at path: JSONPath) -> Value?
  {
    guard let value = object[name] else { return nil }
    switch value {
    case .integer, .number: return value
    default:
      fault(path.member(name), "has to be a number")
      return nil
    }
  }
}

extension TableReader {
  /// The declarations of `parameters`, one for each name, with `required` beside them.
  mutating func parameters(of object: ValueObject, at path: JSONPath) -> [ParameterDeclaration] {
    let place = path.member("parameters")
    var members: [ValueObject.Member] = []
    if let value = object["parameters"] { members = self.object(value, at: place)?.members ?? [] }
    let required = required(of: object, at: path, among: members.map(\.name))
    var parameters: [ParameterDeclaration] = []
    for member in members {
      let path = place.member(member.name)
      let before = faults.count
      guard let schema = schema(member.value, at: path, beside: ["default"]) else { continue }
      let parameter = ParameterDeclaration(
        member.name, schema, isRequired: required.contains(UTF8Key(member.name)),
        defaultValue: member.value["default"])
      if faults.count == before, let reason = parameter.fault { fault(path, reason) }
      parameters.append(parameter)
    }
    return parameters
  }

  /// The schema of a member, where it has one.
  mutating func schema(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> ValueSchema? {
    object[name].flatMap { schema($0, at: path.member(name)) }
  }
}

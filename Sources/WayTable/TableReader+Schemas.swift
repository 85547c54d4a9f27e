import WayRouting
import WayValues

/// The supported part of JSON Schema.
extension TableReader {
  /// The maximum depth of nested schemas.
  private static let maxDepth = 16
  private static let typesPrefix = "#/types/"
  /// The keywords of each kind, in addition to `type`, `title` and `enum`.
  private static let keywordsByKind: [ValueSchema.SchemaKind: [String]] = [
    .string: ["format", "minLength", "maxLength"], .integer: ["minimum", "maximum"],
    .number: ["minimum", "maximum"], .boolean: [], .array: ["items", "minItems", "maxItems"],
    .object: ["properties", "required", "additionalProperties"],
  ]
  private static let keywords = [
    "$ref", "type", "title", "enum", "format", "minLength", "maxLength", "minimum", "maximum",
    "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
  ]

  /// The named types of the document in order, without those that have errors.
  mutating func namedTypes(of document: ValueObject) -> [(name: String, schema: ValueSchema)] {
    let path = JSONPath.root.member("types")
    guard let value = document["types"], let object = object(value, at: path) else { return [] }
    for member in object.members { typeSources[UTF8Key(member.name)] = member.value }
    return object.members.compactMap { member in
      if member.name.isEmpty {
        addFault(path, "a type needs a name")
        return nil
      }
      return namedType(member.name).map { (member.name, $0) }
    }
  }

  private mutating func namedType(_ name: String) -> ValueSchema? {
    if let read = types[UTF8Key(name)] { return read }
    guard let source = typeSources[UTF8Key(name)] else { return nil }
    openTypes.append(name)
    let schema = schema(
      source, at: JSONPath.root.member("types").member(name), depth: 0, typeName: name)
    openTypes.removeLast()
    types.updateValue(schema, forKey: UTF8Key(name))
    return schema
  }

  /// Parses a schema. `others` are members that are allowed in addition to the keywords.
  mutating func schema(
    _ value: Value, at path: JSONPath, allowing others: [String] = [], depth: Int = 0,
    typeName: String? = nil
  ) -> ValueSchema? {
    guard let object = object(value, at: path, known: Self.keywords + others) else { return nil }
    guard depth < Self.maxDepth else {
      addFault(path, "is nested deeper than \(Self.maxDepth) levels; flatten it")
      return nil
    }
    if object["$ref"] != nil { return reference(object, at: path) }
    let title = string("title", of: object, at: path)
    let allowed = object["enum"].flatMap { array($0, at: path.member("enum")) }
    guard let (kind, isNullable) = kind(of: object, at: path) else { return nil }
    for name in Self.keywords.dropFirst(4)
    where object[name] != nil && Self.keywordsByKind[kind]?.contains(name) != true {
      addFault(path.member(name), Self.misplacedMessage(name, kind, object[name]))
    }
    let counted = kind == .array ? "Items" : "Length"
    let count = ValueSchema.Bounds(
      from: size("min\(counted)", of: object, at: path),
      to: size("max\(counted)", of: object, at: path))
    let schema = ValueSchema(
      kind, isNullable: isNullable, title: title, typeName: typeName, allowed: allowed,
      format: optionalChoice("format", of: object, at: path, as: ValueSchema.StringFormat.self),
      range: .init(
        from: number("minimum", of: object, at: path), to: number("maximum", of: object, at: path)),
      count: count,
      items: object["items"].flatMap {
        self.schema($0, at: path.member("items"), depth: depth + 1)
      },
      properties: kind == .object ? properties(of: object, at: path, depth: depth) : [],
      isClosed: boolean("additionalProperties", of: object, at: path) == false)
    if let reason = schema.contradiction { addFault(path, reason) }
    return schema
  }

  private static func misplacedMessage(
    _ name: String, _ kind: ValueSchema.SchemaKind, _ value: Value?
  ) -> String {
    if name == "required", value?.bool != nil {
      return
        "list required names beside \"parameters\" or \"properties\", as \"required\": […]"
    }
    return "is not allowed for the type \"\(kind.rawValue)\""
  }

  /// Resolves a `$ref`.
  private mutating func reference(_ object: ValueObject, at path: JSONPath) -> ValueSchema? {
    for member in object.members where !["$ref", "title", "default"].contains(member.name) {
      addFault(path.member(member.name), "is not allowed beside \"$ref\"; only a title is")
    }
    let title = string("title", of: object, at: path)
    guard let text = string("$ref", of: object, at: path) else { return nil }
    let path = path.member("$ref")
    guard text.hasPrefix(Self.typesPrefix) else {
      addFault(path, "\"\(text)\" is not a type of this table; write \(Self.typesPrefix)NAME")
      return nil
    }
    let name = String(text.dropFirst(Self.typesPrefix.count))
    guard typeSources[UTF8Key(name)] != nil else {
      addUnknownValue(
        name, at: path, of: describesFaults ? typeSources.keys.map(\.text).sorted() : [])
      return nil
    }
    guard !openTypes.contains(where: name.isSameUTF8) else {
      addFault(
        path,
        "\"\(name)\" contains itself: \((openTypes + [name]).joined(separator: " → ")); break the cycle"
      )
      return nil
    }
    let schema = namedType(name)
    return title.map { schema?.titled($0) } ?? schema
  }

  /// The type: one word, or an array of a word and "null".
  private mutating func kind(
    of object: ValueObject, at path: JSONPath
  ) -> (kind: ValueSchema.SchemaKind, isNullable: Bool)? {
    guard let list = object["type"]?.array else {
      return choice("type", of: object, at: path, as: ValueSchema.SchemaKind.self).map {
        ($0, false)
      }
    }
    let words = list.compactMap(\.string)
    let kinds = words.compactMap(ValueSchema.SchemaKind.init)
    guard list.count == 2, words.count == 2, words.contains("null"), kinds.count == 1 else {
      addFault(path.member("type"), "has to be one type, or a list of one type and \"null\"")
      return nil
    }
    return (kinds[0], true)
  }

  private mutating func properties(
    of object: ValueObject, at path: JSONPath, depth: Int
  ) -> [ValueSchema.Property] {
    var members: [ValueObject.ObjectMember] = []
    let membersPath = path.member("properties")
    if let value = object["properties"] {
      members = self.object(value, at: membersPath)?.members ?? []
    }
    let required = required(of: object, at: path, among: members.map(\.name))
    return members.compactMap { member in
      schema(member.value, at: membersPath.member(member.name), depth: depth + 1).map {
        .init(member.name, $0, isRequired: required.contains(UTF8Key(member.name)))
      }
    }
  }

  /// The names in `required`, each of which must be declared.
  private mutating func required(
    of object: ValueObject, at path: JSONPath, among names: [String]
  ) -> Set<UTF8Key> {
    let required = distinctStrings("required", of: object, at: path)
    for name in required where !names.contains(where: name.isSameUTF8) {
      addFault(
        path.member("required"),
        "\"\(name)\" is not declared here;\(NameSuggestion.hint(for: name, among: names)) declare it, or remove it"
      )
    }
    return Set(required.map(UTF8Key.init))
  }

  private mutating func size(_ name: String, of object: ValueObject, at path: JSONPath) -> Int? {
    guard let size = integer(name, of: object, at: path) else { return nil }
    if size < 0 { addFault(path.member(name), "must not be negative") }
    return size
  }

  private mutating func number(_ name: String, of object: ValueObject, at path: JSONPath) -> Value?
  {
    guard let value = object[name] else { return nil }
    switch value {
    case .integer, .number: return value
    default:
      addFault(path.member(name), "has to be a number")
      return nil
    }
  }
}

extension TableReader {
  /// The declarations in `parameters`, one for each name, combined with `required`.
  mutating func parameters(of object: ValueObject, at path: JSONPath) -> [ParameterDeclaration] {
    let membersPath = path.member("parameters")
    var members: [ValueObject.ObjectMember] = []
    if let value = object["parameters"] {
      members = self.object(value, at: membersPath)?.members ?? []
    }
    let required = required(of: object, at: path, among: members.map(\.name))
    var parameters: [ParameterDeclaration] = []
    for member in members {
      let path = membersPath.member(member.name)
      let before = faults.count
      guard let schema = schema(member.value, at: path, allowing: ["default"]) else { continue }
      let parameter = ParameterDeclaration(
        member.name, schema, isRequired: required.contains(UTF8Key(member.name)),
        defaultValue: member.value["default"])
      if faults.count == before, let reason = parameter.contradiction { addFault(path, reason) }
      parameters.append(parameter)
    }
    return parameters
  }

  /// The schema of an optional member.
  mutating func schema(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> ValueSchema? {
    object[name].flatMap { schema($0, at: path.member(name)) }
  }
}

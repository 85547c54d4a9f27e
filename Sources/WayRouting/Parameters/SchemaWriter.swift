import WayValues

/// Writes schemas as JSON Schema (draft 2020-12). Named types are written in place, or once in
/// ``definitions``, to which the schemas then refer.
package struct SchemaWriter {
  private let refersToTypes: Bool
  /// The named types to which what was written refers: the members of `$defs`.
  package private(set) var definitions = ValueObject()
  /// The schemas in ``definitions``.
  private var definedTypes: [UTF8Key: ValueSchema] = [:]

  /// Creates a writer. If `refersToTypes`, named types are written in ``definitions``.
  package init(refersToTypes: Bool = false) {
    self.refersToTypes = refersToTypes
  }

  /// Writes a schema.
  package mutating func value(of schema: ValueSchema) -> Value {
    guard refersToTypes, let name = schema.typeName, Self.isPlain(name) else {
      return .object(members(of: schema))
    }
    guard let known = definedTypes[UTF8Key(name)] else {
      definedTypes[UTF8Key(name)] = schema
      // The place of the name comes before those of the types that it contains.
      definitions[name] = .null
      definitions[name] = .object(members(of: schema))
      return .object(Self.reference(to: name))
    }
    var reference = Self.reference(to: name)
    if known == schema { return .object(reference) }
    if let title = schema.title, known.titled(title) == schema {
      reference["title"] = "\(title)"
      return .object(reference)
    }
    return .object(members(of: schema))
  }

  /// Writes the schema of a parameter, with its default.
  package mutating func value(of parameter: ParameterDeclaration) -> Value {
    guard case .object(var members) = value(of: parameter.schema) else { return .null }
    members["default"] = parameter.defaultValue
    return .object(members)
  }

  /// Whether a name needs no escapes in a URI's fragment and in a JSON pointer.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        let scalar = Unicode.Scalar(byte)
        return Character(scalar).isLetter && scalar.isASCII || ("0"..."9").contains(scalar)
          || ["_", "-", "."].contains(scalar)
      }
  }

  private static func reference(to name: String) -> ValueObject {
    ["$ref": "#/$defs/\(name)"]
  }

  private mutating func members(of schema: ValueSchema) -> ValueObject {
    var members: ValueObject = [:]
    let word: Value = "\(schema.kind.rawValue)"
    members["type"] = schema.isNullable ? [word, "null"] : word
    members["title"] = schema.title.map(Value.string)
    members["enum"] = schema.allowed.map(Value.array)
    members["format"] = (schema.format?.rawValue).map(Value.string)
    members["minimum"] = schema.range.minimum
    members["maximum"] = schema.range.maximum
    let counted = schema.kind == .array ? "Items" : "Length"
    members["min\(counted)"] = schema.count.minimum.map { .integer(Int64($0)) }
    members["max\(counted)"] = schema.count.maximum.map { .integer(Int64($0)) }
    if let items = schema.items { members["items"] = value(of: items) }
    if !schema.properties.isEmpty {
      var properties: ValueObject = [:]
      for property in schema.properties {
        properties[property.name] = value(of: property.schema)
      }
      members["properties"] = .object(properties)
    }
    let required = schema.properties.filter(\.isRequired).map(\.name).map(Value.string)
    if !required.isEmpty { members["required"] = .array(required) }
    if schema.isClosed { members["additionalProperties"] = false }
    return members
  }
}

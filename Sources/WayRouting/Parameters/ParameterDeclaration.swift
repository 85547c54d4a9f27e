import WayValues

/// The declaration of one of a route's parameters.
public struct ParameterDeclaration: Sendable, Hashable {
  /// The kind of value of a parameter; the words of JSON Schema.
  public typealias ParameterKind = ValueSchema.SchemaKind

  /// The parameter's name; `*` for a wildcard.
  public let name: String
  /// The schema of the value. Strings of path and query are converted to its kind; the caller's
  /// values never are.
  public let schema: ValueSchema
  /// Whether a call without it is rejected.
  public let isRequired: Bool
  /// The value in a call without the parameter; `nil` for none.
  public let defaultValue: Value?

  /// The kind of value of the parameter.
  public var kind: ParameterKind { schema.kind }
  /// A short title for people.
  public var title: String? { schema.title }
  /// The values that are accepted; `nil` for all of the kind.
  public var allowed: [Value]? { schema.allowed }

  /// Creates a declaration. A default and allowed values that do not fit `kind` are rejected when
  /// the route is registered.
  public init(
    _ name: String, _ kind: ParameterKind, title: String? = nil, isRequired: Bool = false,
    defaultValue: Value? = nil, allowed: [Value]? = nil
  ) {
    self.init(
      name, ValueSchema(kind, title: title, allowed: allowed), isRequired: isRequired,
      defaultValue: defaultValue)
  }

  /// Creates a declaration from a schema. A default that does not fit it is rejected when the route
  /// is registered.
  public init(
    _ name: String, _ schema: ValueSchema, isRequired: Bool = false, defaultValue: Value? = nil
  ) {
    self.name = name
    self.schema = schema
    self.isRequired = isRequired
    self.defaultValue = defaultValue.map { schema.kind.integer(of: $0) ?? $0 }
  }

  /// The declaration in a route table, without the name and without whether it is required.
  package var value: Value {
    var writer = SchemaWriter()
    return writer.value(of: self)
  }

  /// The reason why the declaration contradicts itself; `nil` if it does not.
  package var contradiction: String? {
    if let contradiction = schema.contradiction { return contradiction }
    guard let defaultValue else { return nil }
    if let fault = kind.fault(of: defaultValue), !(schema.isNullable && defaultValue.isNull) {
      return "a default or allowed value \(fault)"
    }
    if isRequired { return "a required parameter must not have a default" }
    if let allowed, !allowed.contains(defaultValue) {
      return "the default is not one of the allowed values"
    }
    var faults: [SchemaFault] = []
    schema.check(defaultValue, &faults)
    return faults.first.map {
      "the default is wrong at \($0.fault(of: name).path): it \($0.message)"
    }
  }
}

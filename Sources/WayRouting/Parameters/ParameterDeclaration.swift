import WayValues

/// What a route says of one of its parameters.
public struct ParameterDeclaration: Sendable, Hashable {
  /// What kind of value it takes; the words of JSON Schema.
  public typealias Kind = ValueSchema.Kind

  /// The parameter's name; of a wildcard `*`.
  public let name: String
  /// What it may be. Text of path and query is turned into its kind, the caller's values never are.
  public let schema: ValueSchema
  /// Whether a call without it is refused.
  public let isRequired: Bool
  /// What it is where a call does not say; nil for nothing.
  public let defaultValue: Value?

  /// What kind of value it takes.
  public var kind: Kind { schema.kind }
  /// A few words for people.
  public var title: String? { schema.title }
  /// The values that are taken; nil for all of the kind.
  public var allowed: [Value]? { schema.allowed }

  /// A declaration. A default and allowed values that do not fit `kind` are refused when the route
  /// is registered.
  public init(
    _ name: String, _ kind: Kind, title: String? = nil, isRequired: Bool = false,
    defaultValue: Value? = nil, allowed: [Value]? = nil
  ) {
    self.init(
      name, ValueSchema(kind, title: title, allowed: allowed), isRequired: isRequired,
      defaultValue: defaultValue)
  }

  /// A declaration by a schema. A default that does not fit it is refused when the route is
  /// registered.
  public init(
    _ name: String, _ schema: ValueSchema, isRequired: Bool = false, defaultValue: Value? = nil
  ) {
    self.name = name
    self.schema = schema
    self.isRequired = isRequired
    self.defaultValue = defaultValue.map { schema.kind.integer(of: $0) ?? $0 }
  }

  /// As a route table has it, without the name and without whether it is required.
  package var value: Value {
    guard case .object(var members) = schema.value else { return schema.value }
    members["default"] = defaultValue
    return .object(members)
  }

  /// Why the declaration makes no sense.
  package var fault: String? {
    if let contradiction = schema.contradiction { return contradiction }
    guard let defaultValue else { return nil }
    if let fault = kind.fault(of: defaultValue), !(schema.isNullable && defaultValue.isNull) {
      return "a default or allowed value \(fault)"
    }
    if isRequired { return "a required parameter has no use for a default" }
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

import WayValues

/// A schema of values: a subset of JSON Schema (draft 2020-12). Immutable.
public final class ValueSchema: Sendable, Hashable {
  /// A kind of value; the words of JSON Schema.
  public enum SchemaKind: String, Sendable, CaseIterable {
    /// A string.
    case string
    /// A number that a signed 64-bit integer holds exactly, in any notation: `5.0` and `1e3` are 5
    /// and 1000.
    case integer
    /// Any number.
    case number
    /// `true` or `false`.
    case boolean
    /// An array.
    case array
    /// An object.
    case object
  }

  /// The format of a string.
  public enum StringFormat: String, Sendable, CaseIterable {
    /// A date and a time with its offset (RFC 3339, `date-time`).
    case dateTime = "date-time"
    /// A date (RFC 3339, `full-date`).
    case date
    /// A time with its offset (RFC 3339, `full-time`).
    case time
    /// An email address: text on both sides of one `@`.
    case email
    /// A URI (RFC 3986).
    case uri
    /// 32 hex digits in groups of 8, 4, 4, 4 and 12 (RFC 9562).
    case uuid
  }

  /// A declared member of an object.
  public struct Property: Sendable, Hashable {
    /// The member's name.
    public let name: String
    /// The schema of the member's value.
    public let schema: ValueSchema
    /// Whether an object without it is rejected.
    public let isRequired: Bool

    /// Creates a member of an object.
    public init(_ name: String, _ schema: ValueSchema, isRequired: Bool = false) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
    }
  }

  /// A minimum and a maximum; `nil` for no bound.
  public struct Bounds<Bound: Sendable & Hashable>: Sendable, Hashable {
    /// The minimum, included.
    public let minimum: Bound?
    /// The maximum, included.
    public let maximum: Bound?

    /// Creates bounds; by default there are none.
    public init(from minimum: Bound? = nil, to maximum: Bound? = nil) {
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// Whether `null` fits too.
  public let isNullable: Bool
  /// The kind of value.
  public let kind: SchemaKind
  /// A short title for people.
  public let title: String?
  /// The name of the schema in the table's `types`; `nil` for a schema that is written in place.
  public let typeName: String?
  /// The values that fit; `nil` for all of the kind.
  public let allowed: [Value]?
  /// The format of a string; `nil` for any.
  public let format: StringFormat?
  /// The bounds of a number, both included.
  public let range: Bounds<Value>
  /// The bounds of a string's number of Unicode scalars, or of an array's number of elements.
  public let count: Bounds<Int>
  /// The schema of each element of an array; `nil` for any value.
  public let items: ValueSchema?
  /// The declared members of an object, in order.
  public let properties: [Property]
  /// Whether an object with another member is rejected.
  public let isClosed: Bool

  /// Creates a schema. Properties that do not apply to the kind are ignored; a route table that has
  /// them is rejected.
  public init(
    _ kind: SchemaKind, isNullable: Bool = false, title: String? = nil, typeName: String? = nil,
    allowed: [Value]? = nil, format: StringFormat? = nil, range: Bounds<Value> = Bounds(),
    count: Bounds<Int> = Bounds(), items: ValueSchema? = nil, properties: [Property] = [],
    isClosed: Bool = false
  ) {
    self.kind = kind
    self.isNullable = isNullable
    self.title = title
    self.typeName = typeName
    self.allowed = allowed?.map { kind.integer(of: $0) ?? $0 }
    self.format = format
    self.range = range
    self.count = count
    self.items = items
    self.properties = properties
    self.isClosed = isClosed
  }

  public static func == (left: ValueSchema, right: ValueSchema) -> Bool {
    left === right
      || (left.kind == right.kind && left.isNullable == right.isNullable
        && left.title == right.title && left.typeName == right.typeName
        && left.allowed == right.allowed && left.format == right.format
        && left.range == right.range && left.count == right.count && left.items == right.items
        && left.properties == right.properties && left.isClosed == right.isClosed)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(title)
    hasher.combine(typeName)
    hasher.combine(properties)
  }
}

extension ValueSchema {
  /// Returns the schema with another title.
  package func titled(_ title: String) -> ValueSchema {
    ValueSchema(
      kind, isNullable: isNullable, title: title, typeName: typeName, allowed: allowed,
      format: format, range: range, count: count, items: items, properties: properties,
      isClosed: isClosed)
  }

  /// The schema as JSON Schema, with named types written in place.
  public var value: Value {
    var writer = SchemaWriter()
    return writer.value(of: self)
  }
}

import WayValues

/// What a value may be: a subset of JSON Schema (draft 2020-12). Immutable.
public final class ValueSchema: Sendable, Hashable {
  /// A kind of value; the words of JSON Schema.
  public enum Kind: String, Sendable, CaseIterable {
    /// Text.
    case string
    /// A number that 64 bits with sign hold exactly, however it is written: `5.0` and `1e3` are 5
    /// and 1000.
    case integer
    /// Any number.
    case number
    /// True or false.
    case boolean
    /// A list.
    case array
    /// An object.
    case object
  }

  /// What text is.
  public enum Format: String, Sendable, CaseIterable {
    /// A day and a time with its offset (RFC 3339, `date-time`).
    case dateTime = "date-time"
    /// A day (RFC 3339, `full-date`).
    case date
    /// A time with its offset (RFC 3339, `full-time`).
    case time
    /// An address of a mailbox: something on both sides of one `@`.
    case email
    /// A URI (RFC 3986).
    case uri
    /// 32 hex digits in groups of 8, 4, 4, 4 and 12 (RFC 9562).
    case uuid
  }

  /// One member of an object.
  public struct Property: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// What it may be.
    public let schema: ValueSchema
    /// Whether an object without it is refused.
    public let isRequired: Bool

    /// A member of an object.
    public init(_ name: String, _ schema: ValueSchema, isRequired: Bool = false) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
    }
  }

  /// The least and the most of something; nil for no bound.
  public struct Bounds<VersionBound: Sendable & Hashable>: Sendable, Hashable {
    /// The least that fits.
    public let least: VersionBound?
    /// The most that fits.
    public let most: VersionBound?

    /// No bounds, unless they are given.
    public init(from least: VersionBound? = nil, to most: VersionBound? = nil) {
      self.least = least
      self.most = most
    }
  }

  /// Whether `null` fits too.
  public let isNullable: Bool
  /// The kind of value.
  public let kind: Kind
  /// A few words for people.
  public let title: String?
  /// What the table calls it under `types`; nil for one that stands where it is used.
  public let typeName: String?
  /// The values that fit; nil for all of the kind.
  public let allowed: [Value]?
  /// What text has to be.
  public let format: Format?
  /// Between what a number lies, both included.
  public let range: Bounds<Value>
  /// How many Unicode scalars text has, or how many elements a list.
  public let count: Bounds<Int>
  /// What each element of a list may be; nil for anything.
  public let items: ValueSchema?
  /// The members of an object that are known, in their order.
  public let properties: [Property]
  /// Whether an object with a member that is not known is refused.
  public let isClosed: Bool

  /// A schema. What does not belong to the kind is never asked; a route table that has it is refused.
  public init(
    _ kind: Kind, isNullable: Bool = false, title: String? = nil, typeName: String? = nil,
    allowed: [Value]? = nil, format: Format? = nil, range: Bounds<Value> = Bounds(),
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
  /// The same with another title.
  package func titled(_ title: String) -> ValueSchema {
    ValueSchema(
      kind, isNullable: isNullable, title: title, typeName: typeName, allowed: allowed,
      format: format, range: range, count: count, items: items, properties: properties,
      isClosed: isClosed)
  }

  /// As JSON Schema has it, named types written out.
  public var value: Value {
    var members: ValueObject = [:]
    let word = Value.string(kind.rawValue)
    members["type"] = isNullable ? [word, "null"] : word
    members["title"] = title.map(Value.string)
    members["enum"] = allowed.map(Value.list)
    members["format"] = format.map { .string($0.rawValue) }
    members["minimum"] = range.least
    members["maximum"] = range.most
    let counted = kind == .array ? "Items" : "Length"
    members["min\(counted)"] = count.least.map { .integer(Int64($0)) }
    members["max\(counted)"] = count.most.map { .integer(Int64($0)) }
    members["items"] = items?.value
    if !properties.isEmpty {
      members["properties"] = .object(ValueObject(properties.map { ($0.name, $0.schema.value) }))
    }
    let required = properties.filter(\.isRequired).map { Value.string($0.name) }
    if !required.isEmpty { members["required"] = .list(required) }
    if isClosed { members["additionalProperties"] = false }
    return .object(members)
  }
}

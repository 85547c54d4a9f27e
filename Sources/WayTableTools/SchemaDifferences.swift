import WayRouting
import WayTable
import WayValues

/// The differences of two schemas.
struct SchemaDifferences {
  /// The direction of a schema's values.
  struct ValueDirection: OptionSet {
    let rawValue: Int
    /// Callers send the values: accepting fewer of them is breaking.
    static let input = ValueDirection(rawValue: 1)
    /// Callers receive the values: returning more of them is breaking.
    static let output = ValueDirection(rawValue: 2)
  }

  private(set) var all: [(message: String, isBreaking: Bool)] = []
  private let direction: ValueDirection

  init(_ direction: ValueDirection) {
    self.direction = direction
  }

  /// The effect of a change on the set of valid values.
  private enum ValidityEffect {
    case none, narrowed, widened, both
    /// Generated code has a name for it, or reads it.
    case removed
  }

  private mutating func add(_ place: String, _ message: String, _ effect: ValidityEffect) {
    let isBreaking =
      switch effect {
      case .none: false
      case .narrowed: direction.contains(.input)
      case .widened: direction.contains(.output)
      case .both, .removed: true
      }
    all.append((place.isEmpty ? message : "\(place) \(message)", isBreaking))
  }

  /// Compares two schemas. A type with the same name in both tables is not compared here, because
  /// it is reported once, with the type.
  mutating func compare(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if let name = old.typeName, let other = new.typeName, name.isSameUTF8(as: other) { return }
    if old.typeName != new.typeName, old.typeDescription != new.typeDescription {
      add(place, "is \(new.typeDescription) now, not \(old.typeDescription)", .none)
    }
    compareContents(old, new, place)
  }

  /// Compares the values that the schemas allow.
  mutating func compareContents(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if old.isNullable != new.isNullable {
      add(
        place, new.isNullable ? "may be null now" : "is never null now",
        new.isNullable ? .widened : .narrowed)
    }
    guard old.kind == new.kind else {
      let effect: ValidityEffect =
        switch (old.kind, new.kind) {
        case (.integer, .number): .widened
        case (.number, .integer): .narrowed
        default: .both
        }
      return add(place, "is of type \(new.kind.rawValue) now, not \(old.kind.rawValue)", effect)
    }
    compareAllowed(old, new, place)
    compareLimits(old, new, place)
    compareMembers(old, new, place)
    if old.title != new.title { add(place, "has another description", .none) }
  }

  private mutating func compareAllowed(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    switch (old.allowed, new.allowed) {
    case (nil, nil): break
    case (nil, let new?): add(place, "is one of \(listText(new)) now", .both)
    case (_?, nil): add(place, "may be any \(new.kind.rawValue) now", .both)
    case (let old?, let new?):
      let removed = old.filter { !new.contains($0) }
      let more = new.filter { !old.contains($0) }
      if !removed.isEmpty { add(place, "is never \(listText(removed)) now", .removed) }
      if !more.isEmpty { add(place, "may be \(listText(more)) now", .widened) }
    }
  }

  private func listText(_ values: [Value]) -> String {
    values.prefix(8).map(\.brief).joined(separator: ", ") + (values.count > 8 ? ", …" : "")
  }

  /// More values of the same type do not break their readers.
  private mutating func compareLimits(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if old.format != new.format {
      let format = new.format.map { "written as \($0.rawValue)" } ?? "any text"
      add(place, "is \(format) now", new.format == nil ? .none : .narrowed)
    }
    let noun = new.kind == .array ? " elements" : " characters"
    compareLimit(old.range.minimum, new.range.minimum, "at least", "", place) { $0 > $1 }
    compareLimit(old.range.maximum, new.range.maximum, "at most", "", place) { $0 < $1 }
    compareLimit(
      old.count.minimum.map { .integer(Int64($0)) }, new.count.minimum.map { .integer(Int64($0)) },
      "at least", noun, place
    ) { $0 > $1 }
    compareLimit(
      old.count.maximum.map { .integer(Int64($0)) }, new.count.maximum.map { .integer(Int64($0)) },
      "at most", noun, place
    ) { $0 < $1 }
  }

  private mutating func compareLimit(
    _ old: Value?, _ new: Value?, _ words: String, _ noun: String, _ place: String,
    isTighter: (Double, Double) -> Bool
  ) {
    if old == new { return }
    guard let new else {
      return add(place, "is no longer \(words) \(old?.brief ?? "")\(noun)", .none)
    }
    let isFewer =
      if let previous = old?.double, let current = new.double { isTighter(current, previous) } else
      { true }
    add(place, "is \(words) \(new.brief)\(noun) now", isFewer ? .narrowed : .none)
  }

  private mutating func compareMembers(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    switch (old.items, new.items) {
    case (nil, nil): break
    case (let old?, let new?): compare(old, new, joined(place, "each element"))
    case (nil, let new?):
      add(joined(place, "each element"), "is \(new.typeDescription) now", .narrowed)
    case (_?, nil): add(joined(place, "each element"), "may be anything now", .widened)
    }
    for (name, previous, current) in paired(old.properties, new.properties, name: \.name) {
      let place = joined(place, "the member \"\(name.brief)\"")
      switch (previous, current) {
      case (nil, let current?):
        add(
          place, current.isRequired ? "is new and required" : "is new",
          current.isRequired ? .narrowed : .none)
      case (_?, nil): add(place, "is gone", .removed)
      case (let previous?, let current?):
        if previous.isRequired != current.isRequired {
          add(
            place, "is \(current.isRequired ? "" : "not ")required now",
            current.isRequired ? .narrowed : .widened)
        }
        compare(previous.schema, current.schema, place)
      case (nil, nil): break
      }
    }
    if !old.isClosed, new.isClosed { add(place, "has no other members now", .narrowed) }
    if old.isClosed, !new.isClosed { add(place, "may have other members now", .none) }
  }

  private func joined(_ place: String, _ inner: String) -> String {
    place.isEmpty ? inner : "\(place): \(inner)"
  }
}

/// Whether callers send values of the named types, receive them, or both.
struct TypeUsage {
  private var directions: [UTF8Key: SchemaDifferences.ValueDirection] = [:]

  init(of tables: RouteTable...) {
    for table in tables {
      for route in table.declarations.routes {
        add(route.parameters.map(\.schema), .input)
        add([route.result], .output)
        for method in route.methods {
          add(method.parameters.map(\.schema), .input)
          add([method.result], .output)
        }
      }
      add(table.topics.map(\.data), .output)
    }
  }

  subscript(name: String) -> SchemaDifferences.ValueDirection { directions[UTF8Key(name)] ?? [] }

  private mutating func add(
    _ schemas: [ValueSchema?], _ direction: SchemaDifferences.ValueDirection
  ) {
    for case let schema? in schemas {
      if let name = schema.typeName {
        if directions[UTF8Key(name)]?.isSuperset(of: direction) == true { continue }
        directions[UTF8Key(name), default: []].formUnion(direction)
      }
      add([schema.items], direction)
      add(schema.properties.map(\.schema), direction)
    }
  }
}

import WayRouting
import WayTable
import WayValues

/// In what two schemas differ.
struct SchemaDifferences {
  /// Who has to do with values of a schema.
  struct Use: OptionSet {
    let rawValue: Int
    /// Callers give them: what takes less breaks.
    static let given = Use(rawValue: 1)
    /// Callers get them: what brings more breaks.
    static let got = Use(rawValue: 2)
  }

  private(set) var all: [(message: String, isBreaking: Bool)] = []
  private let use: Use

  init(_ use: Use) {
    self.use = use
  }

  /// What a change does to the values that fit.
  private enum Effect {
    case none, fewer, more, both
    /// Code that was generated has a name for it, or reads it.
    case gone
  }

  private mutating func add(_ place: String, _ message: String, _ effect: Effect) {
    let isBreaking =
      switch effect {
      case .none: false
      case .fewer: use.contains(.given)
      case .more: use.contains(.got)
      case .both, .gone: true
      }
    all.append((place.isEmpty ? message : "\(place) \(message)", isBreaking))
  }

  /// Compares what stands at a place. Of a type that has the same name in both tables nothing is
  /// told here: it is told once, with the type.
  mutating func compare(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if let name = old.typeName, let other = new.typeName, name.isSameUTF8(as: other) { return }
    if old.typeName != new.typeName, old.words != new.words {
      add(place, "is \(new.words) now, not \(old.words)", .none)
    }
    compareInside(old, new, place)
  }

  /// Compares all that is said of values.
  mutating func compareInside(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if old.isNullable != new.isNullable {
      add(
        place, new.isNullable ? "may be null now" : "is never null now",
        new.isNullable ? .more : .fewer)
    }
    guard old.kind == new.kind else {
      let effect: Effect =
        switch (old.kind, new.kind) {
        case (.integer, .number): .more
        case (.number, .integer): .fewer
        default: .both
        }
      return add(place, "is of type \(new.kind.rawValue) now, not \(old.kind.rawValue)", effect)
    }
    compareAllowed(old, new, place)
    compareLimits(old, new, place)
    compareMembers(old, new, place)
    if old.title != new.title { add(place, "is described in another way", .none) }
  }

  private mutating func compareAllowed(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    switch (old.allowed, new.allowed) {
    case (nil, nil): break
    case (nil, let new?): add(place, "is one of \(words(new)) now", .both)
    case (_?, nil): add(place, "may be any \(new.kind.rawValue) now", .both)
    case (let old?, let new?):
      let gone = old.filter { !new.contains($0) }
      let more = new.filter { !old.contains($0) }
      if !gone.isEmpty { add(place, "is never \(words(gone)) now", .gone) }
      if !more.isEmpty { add(place, "may be \(words(more)) now", .more) }
    }
  }

  private func words(_ values: [Value]) -> String {
    values.prefix(8).map(\.brief).joined(separator: ", ") + (values.count > 8 ? ", …" : "")
  }

  /// More values of the same type do not break who reads them.
  private mutating func compareLimits(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    if old.format != new.format {
      let format = new.format.map { "written as \($0.rawValue)" } ?? "any text"
      add(place, "is \(format) now", new.format == nil ? .none : .fewer)
    }
    let noun = new.kind == .array ? " elements" : " characters"
    compareLimit(old.range.least, new.range.least, "at least", "", place) { $0 > $1 }
    compareLimit(old.range.most, new.range.most, "at most", "", place) { $0 < $1 }
    compareLimit(
      old.count.least.map { .integer(Int64($0)) }, new.count.least.map { .integer(Int64($0)) },
      "at least", noun, place
    ) { $0 > $1 }
    compareLimit(
      old.count.most.map { .integer(Int64($0)) }, new.count.most.map { .integer(Int64($0)) },
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
      if let was = old?.double, let isNow = new.double { isTighter(isNow, was) } else { true }
    add(place, "is \(words) \(new.brief)\(noun) now", isFewer ? .fewer : .none)
  }

  private mutating func compareMembers(_ old: ValueSchema, _ new: ValueSchema, _ place: String) {
    switch (old.items, new.items) {
    case (nil, nil): break
    case (let old?, let new?): compare(old, new, joined(place, "each element"))
    case (nil, let new?): add(joined(place, "each element"), "is \(new.words) now", .fewer)
    case (_?, nil): add(joined(place, "each element"), "may be anything now", .more)
    }
    for (name, was, isNow) in paired(old.properties, new.properties, name: \.name) {
      let place = joined(place, "the member '\(name.brief)'")
      switch (was, isNow) {
      case (nil, let isNow?):
        add(
          place, isNow.isRequired ? "is new and required" : "is new",
          isNow.isRequired ? .fewer : .none)
      case (_?, nil): add(place, "is gone", .gone)
      case (let was?, let isNow?):
        if was.isRequired != isNow.isRequired {
          add(
            place, "is \(isNow.isRequired ? "" : "not ")required now",
            isNow.isRequired ? .fewer : .more)
        }
        compare(was.schema, isNow.schema, place)
      case (nil, nil): break
      }
    }
    if !old.isClosed, new.isClosed { add(place, "has no other members now", .fewer) }
    if old.isClosed, !new.isClosed { add(place, "may have other members now", .none) }
  }

  private func joined(_ place: String, _ inner: String) -> String {
    place.isEmpty ? inner : "\(place): \(inner)"
  }
}

/// Whether callers give values of the named types, get them, or both.
struct TypeUses {
  private var uses: [UTF8Key: SchemaDifferences.Use] = [:]

  init(of tables: RouteTable...) {
    for table in tables {
      for route in table.declarations.routes {
        add(route.parameters.map(\.schema), .given)
        add([route.result], .got)
        for method in route.methods {
          add(method.parameters.map(\.schema), .given)
          add([method.result], .got)
        }
      }
      add(table.topics.map(\.data), .got)
    }
  }

  subscript(name: String) -> SchemaDifferences.Use { uses[UTF8Key(name)] ?? [] }

  private mutating func add(_ schemas: [ValueSchema?], _ use: SchemaDifferences.Use) {
    for case let schema? in schemas {
      if let name = schema.typeName {
        if uses[UTF8Key(name)]?.isSuperset(of: use) == true { continue }
        uses[UTF8Key(name), default: []].formUnion(use)
      }
      add([schema.items], use)
      add(schema.properties.map(\.schema), use)
    }
  }
}

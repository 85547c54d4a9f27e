import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayValues

/// One difference of two tables.
package struct TableDifference: Sendable, Hashable {
  /// The kind of declaration: `route`, `topic`, `type`, `redirect`, `scheme`, or `table`.
  package let subject: String
  /// The name in the table; empty for the table itself.
  package let name: String
  /// The difference, in words that follow the name.
  package let message: String
  /// Whether calls or generated code may stop working.
  package let isBreaking: Bool

  /// The difference in words: `route 'address': the parameter 'city' is required now`.
  package var summary: String {
    (name.isEmpty ? subject : "\(subject) \"\(name.brief)\"") + ": " + message
  }

  var value: Value {
    [
      "what": .string(subject), "name": .string(name), "message": .string(message),
      "breaking": .bool(isBreaking),
    ]
  }
}

/// The differences of two route tables for people, with breaking ones marked.
///
/// A difference is breaking in these cases:
/// - A call that was accepted is rejected, or its target is missing.
/// - Code generated from the old table cannot read a value.
/// - A name in generated code is removed.
package struct TableDifferences: Sendable {
  /// In the order of the documents.
  package private(set) var all: [TableDifference] = []
  private let old: RouteTable
  private let new: RouteTable

  /// Compares two tables.
  package init(from old: RouteTable, to new: RouteTable) {
    self.old = old
    self.new = new
    let usage = TypeUsage(of: old, new)
    compareTypes(usage)
    compareRoutes()
    compareTopics()
    compareRedirects()
    compareSchemes()
    compareTable()
  }

  /// The breaking differences.
  package var breaking: [TableDifference] { all.filter(\.isBreaking) }

  /// The value for programs.
  package var value: Value {
    [
      "from": old.stamp.value, "to": new.stamp.value, "breaking": .integer(Int64(breaking.count)),
      "changes": .array(all.map(\.value)), "names": TableChanges(from: old, to: new).value,
    ]
  }

  private mutating func add(
    _ what: String, _ name: String, _ message: String, breaking: Bool = false
  ) {
    all.append(TableDifference(subject: what, name: name, message: message, isBreaking: breaking))
  }

  private mutating func add(_ what: String, _ name: String, _ found: SchemaDifferences) {
    for difference in found.all {
      add(what, name, difference.message, breaking: difference.isBreaking)
    }
  }

  private mutating func compareTypes(_ usage: TypeUsage) {
    for (name, before, after) in paired(old.types, new.types, name: \.name) {
      switch (before, after) {
      case (nil, _?): add("type", name, "is new")
      case (_?, nil): add("type", name, "is gone", breaking: true)
      case (let before?, let after?):
        var found = SchemaDifferences(usage[name])
        found.compareContents(before.schema, after.schema, "")
        add("type", name, found)
      case (nil, nil): break
      }
    }
  }

  private mutating func compareRoutes() {
    let pairs = paired(old.declarations.routes, new.declarations.routes, name: \.name)
    for (name, before, after) in pairs {
      switch (before, after) {
      case (nil, _?): add("route", name, "is new")
      case (_?, nil): add("route", name, "is gone", breaking: true)
      case (let before?, let after?): compare(name, before, after)
      case (nil, nil): break
      }
    }
  }

  private mutating func compare(_ name: String, _ before: Route, _ after: Route) {
    if before.kind != after.kind {
      add(
        "route", name, "is a \(after.kind.rawValue) now, not a \(before.kind.rawValue)",
        breaking: true)
    }
    for (pattern, previous, current) in paired(before.patterns, after.patterns, name: \.text) {
      if previous == nil { add("route", name, "has the new pattern \"\(pattern.brief)\"") }
      if current == nil {
        add("route", name, "no longer has the pattern \"\(pattern.brief)\"", breaking: true)
      }
    }
    compare(name, before.parameters, after.parameters, "")
    if before.isStrict != after.isStrict {
      add(
        "route", name,
        after.isStrict ? "allows no other parameters now" : "allows other parameters now",
        breaking: after.isStrict)
    }
    compare(name, before.result, after.result, "the result")
    for (method, previous, current) in paired(before.methods, after.methods, name: \.name) {
      let place = "the method \"\(method.brief)\""
      switch (previous, current) {
      case (nil, _?): add("route", name, "\(place) is new")
      case (_?, nil): add("route", name, "\(place) is gone", breaking: true)
      case (let previous?, let current?):
        compare(name, previous.parameters, current.parameters, "\(place): ")
        compare(name, previous.result, current.result, "\(place): the result")
      case (nil, nil): break
      }
    }
    compareAccess(name, before, after)
    for (word, isSame) in [
      ("title", before.title == after.title), ("purpose", before.purpose == after.purpose),
      ("groups", before.groups == after.groups), ("fallback", before.fallback == after.fallback),
      ("parents", before.parents == after.parents),
      ("presentation", before.presentation == after.presentation),
      ("priority", before.priority == after.priority),
      ("declaration for agents", before.agents == after.agents),
    ] where !isSame {
      add("route", name, "another \(word)")
    }
  }

  /// Compares the permissions and the rollout.
  private mutating func compareAccess(_ name: String, _ before: Route, _ after: Route) {
    if before.permissions != after.permissions {
      let previous = Set(before.permissions)
      let isNarrower =
        !after.permissions.isEmpty
        && (previous.isEmpty || !previous.isSubset(of: after.permissions))
      let callers =
        after.permissions.isEmpty
        ? "everybody" : after.permissions.map(\.brief).joined(separator: ", ")
      add("route", name, "may be called by \(callers) now", breaking: isNarrower)
    }
    if before.rollout != after.rollout {
      let clients = after.rollout.map { "\($0)" } ?? "everybody"
      add("route", name, "is there for \(clients) now", breaking: before.rollout == nil)
    }
  }

  private mutating func compare(
    _ name: String, _ before: [ParameterDeclaration], _ after: [ParameterDeclaration],
    _ place: String
  ) {
    for (parameter, previous, current) in paired(before, after, name: \.name) {
      let place = "\(place)the parameter \"\(parameter.brief)\""
      switch (previous, current) {
      case (nil, let current?):
        let need = current.isRequired ? " and required" : ""
        add("route", name, "\(place) is new\(need)", breaking: current.isRequired)
      case (_?, nil): add("route", name, "\(place) is gone", breaking: true)
      case (let previous?, let current?):
        if previous.isRequired != current.isRequired {
          add(
            "route", name, "\(place) is \(current.isRequired ? "" : "not ")required now",
            breaking: current.isRequired)
        }
        if previous.defaultValue != current.defaultValue {
          let value =
            current.defaultValue.map { "\($0.brief) by default" } ?? "without a default"
          add("route", name, "\(place) is \(value) now")
        }
        var found = SchemaDifferences(.input)
        found.compare(previous.schema, current.schema, place)
        add("route", name, found)
      case (nil, nil): break
      }
    }
  }

  private mutating func compare(
    _ name: String, _ before: ValueSchema?, _ after: ValueSchema?, _ place: String,
    of what: String = "route"
  ) {
    switch (before, after) {
    case (nil, nil): return
    case (nil, let after?): add(what, name, "\(place) is declared as \(after.typeDescription) now")
    case (_?, nil): add(what, name, "\(place) is no longer declared", breaking: true)
    case (let before?, let after?):
      var found = SchemaDifferences(.output)
      found.compare(before, after, place)
      add(what, name, found)
    }
  }

  private mutating func compareTopics() {
    for (name, before, after) in paired(old.topics, new.topics, name: \.name) {
      switch (before, after) {
      case (nil, _?): add("topic", name, "is new")
      case (_?, nil): add("topic", name, "is gone", breaking: true)
      case (let before?, let after?):
        compare(name, before.data, after.data, "the data", of: "topic")
        if before.title != after.title || before.purpose != after.purpose {
          add("topic", name, "has another description")
        }
      case (nil, nil): break
      }
    }
  }

  private mutating func compareRedirects() {
    let patterns = Set(new.declarations.routes.flatMap(\.patterns))
    let pairs = paired(
      old.declarations.redirects, new.declarations.redirects, name: \.from.text)
    for (name, before, after) in pairs {
      switch (before, after) {
      case (nil, let after?): add("redirect", name, "is new: \(targetText(after))")
      case (let before?, nil):
        // If no route has its pattern, a removed redirect leaves its URIs unresolved.
        add("redirect", name, "is gone", breaking: !patterns.contains(before.from))
      case (let before?, let after?):
        if before != after { add("redirect", name, "has another target: \(targetText(after))") }
      case (nil, nil): break
      }
    }
  }

  private func targetText(_ redirect: Redirect) -> String {
    TableRouteFacts.targets(of: redirect).map(\.brief).joined(separator: "; ")
  }

  private mutating func compareSchemes() {
    let pairs = paired(old.declarations.schemes, new.declarations.schemes, name: \.name)
    for (name, before, after) in pairs {
      let (previous, current) = (before?.isClosed ?? false, after?.isClosed ?? false)
      if previous != current {
        add("scheme", name, "is \(current ? "closed" : "open") now", breaking: current)
      }
      if before?.undefinedTarget != after?.undefinedTarget {
        let message =
          after?.undefinedTarget.map { "redirects undefined URIs to \"\($0.text.brief)\" now" }
          ?? "no longer redirects undefined URIs"
        add("scheme", name, message, breaking: after?.undefinedTarget == nil)
      }
    }
  }

  private mutating func compareTable() {
    if old.declarations.plusIsSpace != new.declarations.plusIsSpace {
      let meaning = new.declarations.plusIsSpace ? "a space" : "a plus"
      add("table", "", "+ in a query is \(meaning) now", breaking: true)
    }
    let other = TableChanges(from: old, to: new).otherMembers
    for name in other where ["groups", "permissions", "gates", "tabs", "actions"].contains(name) {
      add("table", "", "another \"\(name)\"")
    }
  }
}

/// Pairs the elements of both lists by name: those of the old list in order, then the new ones.
func paired<Thing>(
  _ old: [Thing], _ new: [Thing], name: (Thing) -> String
) -> [(name: String, old: Thing?, new: Thing?)] {
  var rest: [UTF8Key: Thing] = [:]
  for thing in new { rest[UTF8Key(name(thing))] = thing }
  var pairs: [(name: String, old: Thing?, new: Thing?)] = old.map { thing in
    let name = name(thing)
    return (name, thing, rest.removeValue(forKey: UTF8Key(name)))
  }
  for thing in new where rest[UTF8Key(name(thing))] != nil {
    pairs.append((name(thing), nil, thing))
  }
  return pairs
}

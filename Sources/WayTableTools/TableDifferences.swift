import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayValues

/// One thing in which two tables differ.
package struct TableDifference: Sendable, Hashable {
  /// What kind of thing: `route`, `topic`, `type`, `redirect`, `scheme`, or `table`.
  package let what: String
  /// What the table calls it; of the table itself nothing.
  package let name: String
  /// What is different, in words that follow the name.
  package let message: String
  /// Whether calls, or code that was generated, may stop to work.
  package let isBreaking: Bool

  /// In words: `route 'address': the parameter 'city' is required now`.
  package var words: String {
    (name.isEmpty ? what : "\(what) '\(name.brief)'") + ": " + message
  }

  var value: Value {
    [
      "what": .string(what), "name": .string(name), "message": .string(message),
      "breaking": .bool(isBreaking),
    ]
  }
}

/// In what two route tables differ, told for people, with what breaks marked.
///
/// What breaks: a call that was taken is refused or leads nowhere, or a value comes that code which
/// was generated from the old table cannot read; also names that such code has and that are gone.
package struct TableDifferences: Sendable {
  /// In the order of the documents.
  package private(set) var all: [TableDifference] = []
  private let old: RouteTable
  private let new: RouteTable

  /// Compares two tables.
  package init(from old: RouteTable, to new: RouteTable) {
    self.old = old
    self.new = new
    let uses = TypeUses(of: old, new)
    compareTypes(uses)
    compareRoutes()
    compareTopics()
    compareRedirects()
    compareSchemes()
    compareTable()
  }

  /// Those that break.
  package var breaking: [TableDifference] { all.filter(\.isBreaking) }

  /// For programs.
  package var value: Value {
    [
      "from": old.stamp.value, "to": new.stamp.value, "breaking": .integer(Int64(breaking.count)),
      "changes": .list(all.map(\.value)), "names": TableChanges(from: old, to: new).value,
    ]
  }

  private mutating func add(
    _ what: String, _ name: String, _ message: String, breaking: Bool = false
  ) {
    all.append(TableDifference(what: what, name: name, message: message, isBreaking: breaking))
  }

  private mutating func add(_ what: String, _ name: String, _ found: SchemaDifferences) {
    for difference in found.all {
      add(what, name, difference.message, breaking: difference.isBreaking)
    }
  }

  // MARK: types

  private mutating func compareTypes(_ uses: TypeUses) {
    for (name, before, after) in paired(old.types, new.types, name: \.name) {
      switch (before, after) {
      case (nil, _?): add("type", name, "is new")
      case (_?, nil): add("type", name, "is gone", breaking: true)
      case (let before?, let after?):
        var found = SchemaDifferences(uses[name])
        found.compareInside(before.schema, after.schema, "")
        add("type", name, found)
      case (nil, nil): break
      }
    }
  }

  // MARK: routes

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
    for (pattern, was, isNow) in paired(before.patterns, after.patterns, name: \.text) {
      if was == nil { add("route", name, "has the new pattern '\(pattern.brief)'") }
      if isNow == nil {
        add("route", name, "has the pattern '\(pattern.brief)' no longer", breaking: true)
      }
    }
    compare(name, before.parameters, after.parameters, "")
    if before.isStrict != after.isStrict {
      add(
        "route", name,
        after.isStrict ? "takes no other parameters now" : "takes other parameters now",
        breaking: after.isStrict)
    }
    compare(name, before.result, after.result, "the result")
    for (method, was, isNow) in paired(before.methods, after.methods, name: \.name) {
      let place = "the method '\(method.brief)'"
      switch (was, isNow) {
      case (nil, _?): add("route", name, "\(place) is new")
      case (_?, nil): add("route", name, "\(place) is gone", breaking: true)
      case (let was?, let isNow?):
        compare(name, was.parameters, isNow.parameters, "\(place): ")
        compare(name, was.result, isNow.result, "\(place): the answer")
      case (nil, nil): break
      }
    }
    compareRights(name, before, after)
    for (word, isSame) in [
      ("title", before.title == after.title), ("purpose", before.purpose == after.purpose),
      ("groups", before.groups == after.groups), ("fallback", before.fallback == after.fallback),
      ("parents", before.parents == after.parents),
      ("presentation", before.presentation == after.presentation),
      ("priority", before.priority == after.priority),
    ] where !isSame {
      add("route", name, "another \(word)")
    }
  }

  /// Who may call it, and for whom it is there.
  private mutating func compareRights(_ name: String, _ before: Route, _ after: Route) {
    if before.permissions != after.permissions {
      let was = Set(before.permissions)
      let isNarrower =
        !after.permissions.isEmpty && (was.isEmpty || !was.isSubset(of: after.permissions))
      let who =
        after.permissions.isEmpty
        ? "everybody" : after.permissions.map(\.brief).joined(separator: ", ")
      add("route", name, "may be called by \(who) now", breaking: isNarrower)
    }
    if before.release != after.release {
      let who = after.release.map { "\($0)" } ?? "everybody"
      add("route", name, "is there for \(who) now", breaking: before.release == nil)
    }
  }

  private mutating func compare(
    _ name: String, _ before: [ParameterDeclaration], _ after: [ParameterDeclaration],
    _ place: String
  ) {
    for (parameter, was, isNow) in paired(before, after, name: \.name) {
      let place = "\(place)the parameter '\(parameter.brief)'"
      switch (was, isNow) {
      case (nil, let isNow?):
        let need = isNow.isRequired ? " and required" : ""
        add("route", name, "\(place) is new\(need)", breaking: isNow.isRequired)
      case (_?, nil): add("route", name, "\(place) is gone", breaking: true)
      case (let was?, let isNow?):
        if was.isRequired != isNow.isRequired {
          add(
            "route", name, "\(place) is \(isNow.isRequired ? "" : "not ")required now",
            breaking: isNow.isRequired)
        }
        if was.defaultValue != isNow.defaultValue {
          let value =
            isNow.defaultValue.map { "\($0.brief) where it is left out" } ?? "without a default"
          add("route", name, "\(place) is \(value) now")
        }
        var found = SchemaDifferences(.given)
        found.compare(was.schema, isNow.schema, place)
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
    case (nil, let after?): add(what, name, "\(place) is said to be \(after.words) now")
    case (_?, nil): add(what, name, "\(place) is not said any longer", breaking: true)
    case (let before?, let after?):
      var found = SchemaDifferences(.got)
      found.compare(before, after, place)
      add(what, name, found)
    }
  }

  // MARK: beside routes

  private mutating func compareTopics() {
    for (name, before, after) in paired(old.topics, new.topics, name: \.name) {
      switch (before, after) {
      case (nil, _?): add("topic", name, "is new")
      case (_?, nil): add("topic", name, "is gone", breaking: true)
      case (let before?, let after?):
        compare(name, before.data, after.data, "the data", of: "topic")
        if before.title != after.title || before.purpose != after.purpose {
          add("topic", name, "is described in another way")
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
      case (nil, let after?): add("redirect", name, "is new: \(words(after))")
      case (let before?, nil):
        // Without a route of its own, what was redirected leads nowhere.
        add("redirect", name, "is gone", breaking: !patterns.contains(before.from))
      case (let before?, let after?):
        if before != after { add("redirect", name, "leads elsewhere: \(words(after))") }
      case (nil, nil): break
      }
    }
  }

  private func words(_ redirect: Redirect) -> String {
    TableRouteFacts.ways(of: redirect).map(\.brief).joined(separator: "; ")
  }

  private mutating func compareSchemes() {
    let pairs = paired(old.declarations.schemes, new.declarations.schemes, name: \.name)
    for (name, before, after) in pairs {
      let (was, isNow) = (before?.isClosed ?? false, after?.isClosed ?? false)
      if was != isNow {
        add("scheme", name, "is \(isNow ? "closed" : "open") now", breaking: isNow)
      }
      if before?.undefined != after?.undefined {
        let target = after?.undefined.map { "to '\($0.text.brief)'" } ?? "nowhere"
        add(
          "scheme", name, "leads what is undefined \(target) now", breaking: after?.undefined == nil
        )
      }
    }
  }

  private mutating func compareTable() {
    if old.declarations.plusIsSpace != new.declarations.plusIsSpace {
      let meaning = new.declarations.plusIsSpace ? "a space" : "a plus"
      add("table", "", "+ in a query is \(meaning) now", breaking: true)
    }
    let other = TableChanges(from: old, to: new).other
    for name in other where ["groups", "permissions", "tabs", "actions"].contains(name) {
      add("table", "", "another '\(name)'")
    }
  }
}

/// Things of both lists by their names: those of the old in its order, then those that are new.
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

import WayNavigation
import WayRouting
import WayTable
import WayValues

/// What a page for people says of things of a table, as plain texts that are not escaped yet.
enum TableRouteFacts {
  /// A row of a table of parameters or members.
  struct Row {
    let name: String
    let type: String
    /// `required`, a default, or nothing.
    let need: String
    let notes: String
  }

  /// What there is to say of a route beside its parameters and its result.
  static func of(_ route: Route, in table: RouteTable) -> [(label: String, text: String)] {
    var facts = [("Served by", served(route))]
    func add(_ label: String, _ text: String?) {
      if let text, !text.isEmpty { facts.append((label, text)) }
    }
    add("Groups", meanings(route.groups, table.groups))
    add("Who may call", meanings(route.permissions, table.permissions))
    add("There for", route.release?.description)
    add("Shown", route.presentation.map(shown))
    add("Where nobody serves it", route.fallback?.text)
    add("Beneath it", route.parents.map(\.text).joined(separator: " → "))
    if route.priority != 0 { add("Priority", "\(route.priority)") }
    if route.isStrict { add("Strict", "takes no other parameters") }
    return facts
  }

  private static func served(_ route: Route) -> String {
    var schemes: [String] = []
    for scheme in route.patterns.map({ $0.scheme ?? "any scheme" }) where !schemes.contains(scheme)
    {
      schemes.append(scheme)
    }
    let who = schemes.joined(separator: ", ")
    return route.kind == .page ? "who shows pages of \(who)" : "who runs \(who)"
  }

  /// Names with what the table says of them.
  private static func meanings(_ names: [String], _ known: [(String, String)]?) -> String {
    names.map { name in
      guard let meaning = known?.first(where: { $0.0.isSameUTF8(as: name) }) else { return name }
      return "\(name) (\(meaning.1))"
    }.joined(separator: ", ")
  }

  private static func shown(_ presentation: Presentation) -> String {
    var words: [String] = []
    if let style = presentation.style { words.append(style.rawValue) }
    if let isAnimated = presentation.isAnimated {
      words.append(isAnimated ? "animated" : "not animated")
    }
    if let hasNavigation = presentation.hasNavigation {
      words.append(hasNavigation ? "with a stack of its own" : "without a stack of its own")
    }
    return words.joined(separator: ", ")
  }

  static func rows(_ parameters: [ParameterDeclaration]) -> [Row] {
    parameters.flatMap { parameter in
      rows(
        parameter.name, parameter.schema,
        need: parameter.isRequired
          ? "required" : parameter.defaultValue.map { "else \($0.text)" } ?? "")
    }
  }

  /// The members of a result, an event or a type; one row for what is no object.
  static func rows(_ schema: ValueSchema) -> [Row] {
    let name = schema.kind == .array ? "(each)" : ""
    let inner = schema.kind == .array ? schema.items : schema
    guard schema.typeName == nil || schema.kind == .object, let inner, !inner.properties.isEmpty
    else { return [] }
    return inner.properties.flatMap { property in
      rows(
        name.isEmpty ? property.name : "\(name) \(property.name)", property.schema,
        need: property.isRequired ? "required" : "")
    }
  }

  /// One row, and one for each member of an object that has no name.
  private static func rows(_ name: String, _ schema: ValueSchema, need: String) -> [Row] {
    var notes = schema.title.map { [$0] } ?? []
    notes += schema.facts.map { "\($0)." }
    if let allowed = schema.allowed, schema.kind == .string || schema.kind == .integer {
      notes.append("One of \(allowed.map(\.text).joined(separator: ", ")).")
    }
    let row = Row(name: name, type: schema.words, need: need, notes: notes.joined(separator: " "))
    guard schema.typeName == nil else { return [row] }
    let inner = schema.kind == .array ? schema.items : schema
    guard let inner, inner.typeName == nil else { return [row] }
    let prefix = schema.kind == .array ? "\(name)[]" : name
    return [row]
      + inner.properties.flatMap { property in
        rows(
          "\(prefix).\(property.name)", property.schema, need: property.isRequired ? "required" : ""
        )
      }
  }

  /// Where a redirect leads, a branch a line.
  static func ways(of redirect: Redirect) -> [String] {
    redirect.branches.map { branch in
      let way = branch.to?.text ?? "stays"
      return branch.release.map { "\(way) for \($0)" } ?? way
    }
  }
}

import WayNavigation
import WayRouting
import WayTable
import WayValues

/// Descriptions of a table's contents for people, as unescaped strings.
enum TableRouteFacts {
  /// A row of a table of parameters or members.
  struct Row {
    let name: String
    let type: String
    /// `required`, a default, or empty.
    let requirement: String
    let notes: String
  }

  /// The description of a route without its parameters and its result.
  static func of(_ route: Route, in table: RouteTable) -> [(label: String, text: String)] {
    var facts = [("Served by", hostDescription(route))]
    func add(_ label: String, _ text: String?) {
      if let text, !text.isEmpty { facts.append((label, text)) }
    }
    add("Groups", descriptions(route.groups, table.groups))
    add("Permissions", descriptions(route.permissions, table.permissions))
    add(
      "Gates",
      table.declarations.gates.filter { $0.covers(route) }.map(\.name).joined(separator: ", "))
    add("Agents", route.agents.map(agentsText))
    add("Rollout", route.rollout?.description)
    add("Shown", route.presentation.map(presentationText))
    add("Fallback", route.fallback?.text)
    add("Pages below", route.parents.map(\.text).joined(separator: " → "))
    if route.priority != 0 { add("Priority", "\(route.priority)") }
    if route.isStrict { add("Strict", "allows no other parameters") }
    return facts
  }

  private static func hostDescription(_ route: Route) -> String {
    var schemes: [String] = []
    for scheme in route.patterns.map({ $0.scheme ?? "any scheme" }) where !schemes.contains(scheme)
    {
      schemes.append(scheme)
    }
    let schemeList = schemes.joined(separator: ", ")
    return "hosts of \(route.kind.rawValue)s of \(schemeList)"
  }

  /// Names with their meanings in the table.
  private static func descriptions(_ names: [String], _ known: [(String, String)]?) -> String {
    names.map { name in
      guard let meaning = known?.first(where: { $0.0.isSameUTF8(as: name) }) else { return name }
      return "\(name) (\(meaning.1))"
    }.joined(separator: ", ")
  }

  private static func presentationText(_ presentation: Presentation) -> String {
    var words: [String] = []
    if let style = presentation.style { words.append(style.rawValue) }
    if let isAnimated = presentation.isAnimated {
      words.append(isAnimated ? "animated" : "not animated")
    }
    if let hasNavigation = presentation.hasNavigation {
      words.append(hasNavigation ? "with its own stack" : "without its own stack")
    }
    return words.joined(separator: ", ")
  }

  private static func agentsText(_ agents: RouteAgents) -> String {
    if agents.isReadOnly { return "a tool that changes nothing" }
    let effect = agents.isDestructive ? "may delete or overwrite things" : "adds or changes things"
    return "a tool that \(effect)"
      + (agents.isIdempotent ? "; a second call changes nothing more" : "")
  }

  static func rows(_ parameters: [ParameterDeclaration]) -> [Row] {
    parameters.flatMap { parameter in
      rows(
        parameter.name, parameter.schema,
        need: parameter.isRequired
          ? "required" : parameter.defaultValue.map { "default \($0.text)" } ?? "")
    }
  }

  /// The members of a result, an event or a type; no rows if it has none.
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

  /// One row, and one for each member of an unnamed object.
  private static func rows(_ name: String, _ schema: ValueSchema, need: String) -> [Row] {
    var notes = schema.title.map { [$0] } ?? []
    notes += schema.constraints.map { "\($0)." }
    if let allowed = schema.allowed, schema.kind == .string || schema.kind == .integer {
      notes.append("One of \(allowed.map(\.text).joined(separator: ", ")).")
    }
    let row = Row(
      name: name, type: schema.typeDescription, requirement: need,
      notes: notes.joined(separator: " "))
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

  /// The targets of a redirect, one a branch.
  static func targets(of redirect: Redirect) -> [String] {
    redirect.branches.map { branch in
      let target = branch.to?.text ?? "stays"
      return branch.rollout.map { "\(target) for \($0)" } ?? target
    }
  }
}

import WayRouting
import WayValues

/// The differences of two route tables, by the names of their declarations. Notation and order do
/// not count.
public struct TableChanges: Sendable, Hashable {
  /// The names of the routes that only the new table has, in its order.
  public private(set) var added: [String]
  /// The names of the routes that only the old table has, in its order.
  public private(set) var removed: [String]
  /// The names of the routes that both tables have and that differ, including their named types; in
  /// the order of the new table.
  public private(set) var changed: [String]
  /// The `from` of the redirects that differ, or that only one table has.
  public private(set) var redirects: [String]
  /// The topics that differ, or that only one table has.
  public private(set) var topics: [String]
  /// The other members of the document that differ: `types`, `groups`, `permissions`, `gates`, `schemes`,
  /// `tabs`, `actions`, `plusIsSpace`.
  public private(set) var otherMembers: [String]

  /// Compares two tables; `nil` means a server without a table.
  package init(from old: RouteTable?, to new: RouteTable?) {
    let routes = NameDifference(
      old?.declarations.routes, new?.declarations.routes, name: \.name,
      isSame: { $0.isSame(as: $1) })
    added = routes.added
    removed = routes.removed
    changed = routes.changed
    redirects =
      NameDifference(
        old?.declarations.redirects, new?.declarations.redirects, name: \.from.text, isSame: ==
      ).all
    topics = NameDifference(old?.topics, new?.topics, name: \.name, isSame: ==).all
    otherMembers = Self.comparedMembers.filter { member in
      Self.member(member, of: old) != Self.member(member, of: new)
    }
  }

  private static let comparedMembers = [
    "types", "groups", "permissions", "gates", "schemes", "tabs", "actions", "plusIsSpace",
  ]

  /// The value of a member of a document, or its default.
  private static func member(_ name: String, of table: RouteTable?) -> Value? {
    if let value = table?.document[name] { return value }
    switch name {
    case "tabs": return []
    case "plusIsSpace": return true
    // Without the member all names are allowed; with an empty one, none are.
    case "groups", "permissions": return nil
    default: return [:]
    }
  }

  /// Whether the tables declare the same.
  public var isEmpty: Bool {
    [added, removed, changed, redirects, topics, otherMembers].allSatisfy(\.isEmpty)
  }

  /// Maximum number of names of one kind in ``value``.
  private static let maxNames = 256

  /// The value on the wire: at most 256 names of each kind. `cut` is true if there are more.
  package var value: Value {
    func list(_ names: [String]) -> Value { .array(names.prefix(Self.maxNames).map(Value.string)) }
    var members: ValueObject = [
      "added": list(added), "removed": list(removed), "changed": list(changed),
      "redirects": list(redirects), "topics": list(topics), "other": list(otherMembers),
    ]
    if [added, removed, changed, redirects, topics].contains(where: { $0.count > Self.maxNames }) {
      members["cut"] = true
    }
    return .object(members)
  }
}

/// The differences of two lists of named elements.
private struct NameDifference {
  private(set) var added: [String] = []
  private(set) var removed: [String] = []
  private(set) var changed: [String] = []

  var all: [String] { removed + changed + added }

  init<Thing>(
    _ old: [Thing]?, _ new: [Thing]?, name: (Thing) -> String, isSame: (Thing, Thing) -> Bool
  ) {
    var rest: [UTF8Key: Thing] = [:]
    for thing in old ?? [] { rest[UTF8Key(name(thing))] = thing }
    for thing in new ?? [] {
      let name = name(thing)
      guard let before = rest.removeValue(forKey: UTF8Key(name)) else {
        added.append(name)
        continue
      }
      if !isSame(before, thing) { changed.append(name) }
    }
    guard !rest.isEmpty else { return }
    removed = (old ?? []).map(name).filter { rest[UTF8Key($0)] != nil }
  }
}

extension Route {
  /// Whether the declarations are equal; handlers are not compared.
  fileprivate func isSame(as other: Route) -> Bool {
    if self === other { return true }
    return patterns == other.patterns && kind == other.kind && title == other.title
      && purpose == other.purpose && priority == other.priority
      && isStrict == other.isStrict && groups == other.groups && permissions == other.permissions
      && fallback == other.fallback && parents == other.parents
      && presentation == other.presentation && rollout == other.rollout
      && parameters == other.parameters && result == other.result && methods == other.methods
      && agents == other.agents
  }
}

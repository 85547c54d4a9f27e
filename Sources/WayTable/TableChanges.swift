import WayRouting
import WayValues

/// In what two route tables differ, by the names of what they declare. How a thing is written does
/// not count, nor the order in which things are declared.
public struct TableChanges: Sendable, Hashable {
  /// The names of the routes that only the new table has, in its order.
  public private(set) var added: [String]
  /// The names of the routes that only the old table has, in its order.
  public private(set) var removed: [String]
  /// The names of the routes that both have and that differ, the named types that they use
  /// included; in the order of the new table.
  public private(set) var changed: [String]
  /// The `from` of the redirects that one table has only, or that differ.
  public private(set) var redirects: [String]
  /// The topics that one table has only, or that differ.
  public private(set) var topics: [String]
  /// The members of the document beside those that differ: `types`, `groups`, `permissions`,
  /// `schemes`, `tabs`, `actions`, `plusIsSpace`.
  public private(set) var other: [String]

  /// Compares two tables; nil is a server without one.
  package init(from old: RouteTable?, to new: RouteTable?) {
    let routes = Difference(
      old?.declarations.routes, new?.declarations.routes, name: \.name,
      isSame: { $0.isSame(as: $1) })
    added = routes.added
    removed = routes.removed
    changed = routes.changed
    redirects =
      Difference(
        old?.declarations.redirects, new?.declarations.redirects, name: \.from.text, isSame: ==
      ).all
    topics = Difference(old?.topics, new?.topics, name: \.name, isSame: ==).all
    other = Self.others.filter { member in
      Self.member(member, of: old) != Self.member(member, of: new)
    }
  }

  private static let others = [
    "types", "groups", "permissions", "schemes", "tabs", "actions", "plusIsSpace",
  ]

  /// What a document says by a member, or by leaving it out.
  private static func member(_ name: String, of table: RouteTable?) -> Value? {
    if let value = table?.document[name] { return value }
    switch name {
    case "tabs": return []
    case "plusIsSpace": return true
    // Without the member any name goes, with an empty one none.
    case "groups", "permissions": return nil
    default: return [:]
    }
  }

  /// Whether the tables declare the same.
  public var isEmpty: Bool {
    [added, removed, changed, redirects, topics, other].allSatisfy(\.isEmpty)
  }

  /// How many names of one kind are told.
  private static let maxTold = 256

  /// As it stands on the wire: at most 256 names of each kind, with `cut` true where there are more.
  package var value: Value {
    func list(_ names: [String]) -> Value { .list(names.prefix(Self.maxTold).map(Value.string)) }
    var members: ValueObject = [
      "added": list(added), "removed": list(removed), "changed": list(changed),
      "redirects": list(redirects), "topics": list(topics), "other": list(other),
    ]
    if [added, removed, changed, redirects, topics].contains(where: { $0.count > Self.maxTold }) {
      members["cut"] = true
    }
    return .object(members)
  }
}

/// In what two lists of named things differ.
private struct Difference {
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
  /// Whether both are declared in the same way; who serves them does not count.
  fileprivate func isSame(as other: Route) -> Bool {
    if self === other { return true }
    return patterns == other.patterns && kind == other.kind && title == other.title
      && purpose == other.purpose && priority == other.priority
      && isStrict == other.isStrict && groups == other.groups && permissions == other.permissions
      && fallback == other.fallback && parents == other.parents
      && presentation == other.presentation && release == other.release
      && parameters == other.parameters && result == other.result && methods == other.methods
  }
}

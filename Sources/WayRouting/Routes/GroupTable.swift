import WayValues

/// The groups that routes were added to, beside those that they name themselves.
struct AddedGroups: Sendable {
  /// The groups of each route, with numbers that rise as routes are added to groups.
  private var byRoute = RouterShardedDictionary<UTF8Key, [(group: UTF8Key, number: Int)]>()
  private var lastNumber = 0
  private var count = 0

  var isEmpty: Bool { count == 0 }

  func groups(of route: String) -> [UTF8Key] {
    isEmpty ? [] : (byRoute[UTF8Key(route)] ?? []).map(\.group)
  }

  mutating func add(_ route: String, to group: String) {
    let key = UTF8Key(group)
    var groups = byRoute[UTF8Key(route)] ?? []
    guard !groups.contains(where: { $0.group == key }) else { return }
    lastNumber += 1
    count += 1
    groups.append((key, lastNumber))
    byRoute[UTF8Key(route)] = groups
  }

  /// False when it is not in the group.
  mutating func remove(_ route: String, from group: String) -> Bool {
    let key = UTF8Key(route)
    guard var groups = byRoute[key],
      let place = groups.firstIndex(where: { $0.group == UTF8Key(group) })
    else { return false }
    groups.remove(at: place)
    count -= 1
    byRoute[key] = groups.isEmpty ? nil : groups
    return true
  }

  /// The routes of each group, in the order in which they were added. Costs by how many there are.
  var members: [UTF8Key: [String]] {
    var numbered: [UTF8Key: [(number: Int, route: String)]] = [:]
    for (route, groups) in byRoute.all {
      for (group, number) in groups { numbered[group, default: []].append((number, route.text)) }
    }
    return numbered.mapValues { $0.sorted { $0.number < $1.number }.map(\.route) }
  }
}

/// Which routes are in which groups.
struct GroupTable: Sendable {
  private var routesByGroup: [UTF8Key: [String]] = [:]

  /// What the routes say themselves, and what was added.
  init(_ routes: [Route], added: [UTF8Key: [String]]) {
    var groupsByRoute: [UTF8Key: Set<UTF8Key>] = [:]
    func insert(_ route: String, into group: String) {
      let isNew = groupsByRoute[UTF8Key(route), default: []].insert(UTF8Key(group)).inserted
      if isNew { routesByGroup[UTF8Key(group), default: []].append(route) }
    }
    for route in routes where !route.groups.isEmpty {
      for group in route.groups { insert(route.name, into: group) }
    }
    guard !added.isEmpty else { return }
    let registered = Set(routes.map { UTF8Key($0.name) })
    for (group, names) in added {
      for name in names where registered.contains(UTF8Key(name)) { insert(name, into: group.text) }
    }
  }

  /// The names of the routes in a group.
  func members(of group: String) -> [String] { routesByGroup[UTF8Key(group)] ?? [] }

  /// The names of the groups that have members, in no order.
  var names: [String] { routesByGroup.keys.map(\.text) }
}

extension Router {
  /// Adds routes to a group, those that are in it already left as they are. A route that is
  /// registered anew under its name is in it again.
  ///
  /// Throws ``RouterError/unknown(_:)`` when one of the names is not registered; then none is
  /// added.
  public func add(routes names: [String], toGroup group: String) throws(RouterError) {
    try change { (state) throws(RouterError) in
      for name in names where !state.isRegistered(name) { throw .unknown(name) }
      for name in names { state.groups.add(name, to: group) }
    }
  }

  /// Takes a route out of a group that ``add(routes:toGroup:)`` put it into; false when that was
  /// not so.
  @discardableResult
  public func remove(route name: String, fromGroup group: String) -> Bool {
    changeAlways { $0.groups.remove(name, from: group) }
  }
}

extension RouterSnapshot {
  /// The names of the routes in a group: those that say so themselves, in the order of their
  /// registration, then those that were added. The first time it costs by how many routes there
  /// are.
  public func routes(inGroup group: String) -> [String] { madeGroups().members(of: group) }

  /// The names of all groups that have members, sorted. The first time it costs as
  /// ``routes(inGroup:)``.
  public var groupNames: [String] { madeGroups().names.sorted() }

  private func madeGroups() -> GroupTable {
    groups.withLock { groups in
      if let groups { return groups }
      let made = GroupTable(routes, added: addedGroups.members)
      groups = made
      return made
    }
  }
}

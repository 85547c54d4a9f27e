import WayValues

/// The groups that routes were added to, without those that the routes name themselves.
struct AddedGroups: Sendable {
  /// The groups of each route, with numbers that grow as routes are added to groups.
  private var byRoute: [UTF8Key: [(group: UTF8Key, number: Int)]] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { byRoute.isEmpty }

  func groups(of route: String) -> [UTF8Key] {
    isEmpty ? [] : (byRoute[UTF8Key(route)] ?? []).map(\.group)
  }

  /// Returns all groups of a route: those that it names, and those that it was added to.
  func allGroups(of route: Route) -> [UTF8Key] {
    route.groups.map { UTF8Key($0) } + groups(of: route.name)
  }

  mutating func add(_ route: String, to group: String) {
    let key = UTF8Key(group)
    var groups = byRoute[UTF8Key(route)] ?? []
    guard !groups.contains(where: { $0.group == key }) else { return }
    lastNumber += 1
    groups.append((key, lastNumber))
    byRoute[UTF8Key(route)] = groups
  }

  /// Removes a route from a group; returns `false` if it is not in the group.
  mutating func remove(_ route: String, from group: String) -> Bool {
    let key = UTF8Key(route)
    guard var groups = byRoute[key],
      let place = groups.firstIndex(where: { $0.group == UTF8Key(group) })
    else { return false }
    groups.remove(at: place)
    byRoute[key] = groups.isEmpty ? nil : groups
    return true
  }

  /// The routes of each group, in the order in which they were added. The cost is linear in their
  /// number.
  var routesByGroup: [UTF8Key: [String]] {
    var numbered: [UTF8Key: [(number: Int, route: String)]] = [:]
    for (route, groups) in byRoute {
      for (group, number) in groups { numbered[group, default: []].append((number, route.text)) }
    }
    return numbered.mapValues { $0.sorted { $0.number < $1.number }.map(\.route) }
  }
}

/// The routes of each group.
struct RouteGroupTable: Sendable {
  private var routesByGroup: [UTF8Key: [String]] = [:]

  /// Creates the table from the groups that the routes name and those that they were added to.
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

  /// Returns the names of the routes in a group.
  func routes(of group: String) -> [String] { routesByGroup[UTF8Key(group)] ?? [] }

  /// The names of the groups that have routes, in no order.
  var names: [String] { routesByGroup.keys.map(\.text) }
}

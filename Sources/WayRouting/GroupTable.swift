import WayValues

/// Which routes are in which groups.
struct GroupTable: Sendable {
  private var routesByGroup: [UTF8Key: [String]] = [:]
  private var groupsByRoute: [UTF8Key: Set<UTF8Key>] = [:]

  /// What the routes say themselves, and what was added.
  init(_ routes: [Route], added: [UTF8Key: [String]]) {
    for route in routes where !route.groups.isEmpty {
      for group in route.groups { insert(route.name, into: group) }
    }
    guard !added.isEmpty else { return }
    let registered = Set(routes.map { UTF8Key($0.name) })
    for (group, names) in added {
      for name in names where registered.contains(UTF8Key(name)) { insert(name, into: group.text) }
    }
  }

  private mutating func insert(_ route: String, into group: String) {
    let isNew = groupsByRoute[UTF8Key(route), default: []].insert(UTF8Key(group)).inserted
    if isNew { routesByGroup[UTF8Key(group), default: []].append(route) }
  }

  /// The names of the routes in a group.
  func members(of group: String) -> [String] { routesByGroup[UTF8Key(group)] ?? [] }

  func groups(of route: UTF8Key) -> Set<UTF8Key> { groupsByRoute[route] ?? [] }

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
      let key = UTF8Key(group)
      var members = state.groups[key] ?? []
      var known = Set(members.map(UTF8Key.init))
      for name in names where known.insert(UTF8Key(name)).inserted { members.append(name) }
      state.groups[key] = members
    }
  }

  /// Takes a route out of a group that ``add(routes:toGroup:)`` put it into; false when that was
  /// not so.
  @discardableResult
  public func remove(route name: String, fromGroup group: String) -> Bool {
    changeAlways { state in
      let key = UTF8Key(group)
      let place = state.groups[key]?.firstIndex { $0.isSameUTF8(as: name) }
      if let place { state.groups[key]?.remove(at: place) }
      if state.groups[key]?.isEmpty == true { state.groups[key] = nil }
      return place != nil
    }
  }
}

extension RouterSnapshot {
  /// The names of the routes in a group: those that say so themselves, in the order of their
  /// registration, then those that were added.
  public func routes(inGroup group: String) -> [String] { groups.members(of: group) }

  /// The names of all groups that have members, sorted.
  public var groupNames: [String] { groups.names.sorted() }
}

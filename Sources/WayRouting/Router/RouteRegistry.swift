import WayPatterns
import WayValues

/// A handle of one registration, with which it can be replaced or removed. It does not affect
/// another route that is later registered with the same name.
public struct Registration: Sendable, Hashable {
  /// The route's name.
  public let name: String
  let id: UInt64
}

/// The registered routes, no two of which have one name or match the same URIs. A method that
/// throws has changed nothing.
struct RouteRegistry: Sendable {
  private struct RegisteredRoute: Sendable {
    let id: UInt64
    /// The position in the order of registration, which a route keeps when it is replaced.
    var place: Int
    var route: Route
    /// The shapes that no other route's patterns may have.
    let shapes: [RouteShape]
    /// Whether a table declares the route.
    let isDeclared: Bool
  }

  private var entries: [UTF8Key: RegisteredRoute] = [:]
  private var namesByShape: [RouteShape: UTF8Key] = [:]
  private var nextPlace = 0
  private var lastID: UInt64 = 0
  /// The names of the routes that tables declare, even if other code has replaced them.
  private(set) var declaredNames: Set<UTF8Key> = []
  /// The handlers that other code has given to routes of a table, for the next time that it is
  /// loaded.
  private var boundHandlers: [UTF8Key: RouteHandler] = [:]
  /// The names among them whose route no table declares any more.
  private(set) var orphanedHandlers: Set<UTF8Key> = []
  /// The table of the routes; `nil` if it has to be built again.
  private var builtTable: RoutingTable?

  /// The route with a name.
  subscript(name: String) -> Route? { entries[UTF8Key(name)]?.route }

  /// Returns the table of the routes. It is built again after any change except one of handlers.
  mutating func table() -> RoutingTable {
    if let builtTable { return builtTable }
    let placed = entries.values.map { (place: $0.place, route: $0.route) }
    let built = RoutingTable(placed.sorted { $0.place < $1.place })
    builtTable = built
    return built
  }

  /// Adds a route. If `replacing` is `true`, it replaces the one with the same name.
  mutating func add(
    _ route: Route, replacing: Bool = false
  ) throws(RouterConfigurationError) -> Registration {
    let entry = entries[UTF8Key(route.name)]
    if entry != nil, !replacing { throw .duplicateName(route.name) }
    return try put(route, replacing: entry)
  }

  /// Adds all routes, or none of them if one is rejected.
  mutating func add(contentsOf routes: [Route]) throws(RouterConfigurationError) -> [Registration] {
    var added: [Registration] = []
    let table = builtTable
    do throws(RouterConfigurationError) {
      for route in routes { added.append(try add(route)) }
    } catch {
      for registration in added { _ = remove(registration) }
      builtTable = table
      throw error
    }
    return added
  }

  /// Replaces a registered route; the new route may have another name.
  mutating func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    guard let entry = entry(of: registration) else { throw .unknownRoute(registration.name) }
    return try replace(entry, with: route)
  }

  /// Replaces the route with a name.
  mutating func replace(
    _ name: String, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    guard let entry = entries[UTF8Key(name)] else { throw .unknownRoute(name) }
    return try replace(entry, with: route)
  }

  private mutating func replace(
    _ entry: RegisteredRoute, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    if let other = entries[UTF8Key(route.name)], other.id != entry.id {
      throw .duplicateName(route.name)
    }
    return try put(route, replacing: entry)
  }

  /// Removes a route; returns `false` if the registration is no longer valid.
  mutating func remove(_ registration: Registration) -> Bool {
    guard let entry = entry(of: registration) else { return false }
    remove(entry)
    return true
  }

  /// Removes the route with a name; returns `false` if there is none.
  mutating func remove(_ name: String) -> Bool {
    guard let entry = entries[UTF8Key(name)] else { return false }
    remove(entry)
    return true
  }

  /// Sets the handler of a route; its registration stays valid.
  mutating func bind(_ name: String, to handler: RouteHandler) throws(RouterConfigurationError) {
    let key = UTF8Key(name)
    guard let entry = entries[key] else { throw .unknownRoute(name) }
    guard handler.supports(entry.route.kind) else {
      throw .handlerMismatch(route: name, kind: entry.route.kind)
    }
    let route = entry.route.with(handler)
    entries[key]?.route = route
    builtTable?.replaceRoute(at: entry.place, with: route)
  }

  /// Whether other code has replaced the route with this name that a table declares.
  func isReplaced(_ name: String) -> Bool {
    let key = UTF8Key(name)
    return declaredNames.contains(key) && entries[key]?.isDeclared == false
  }

  /// Adds the routes of a table. If `replacing` is `true`, they replace all routes that tables have
  /// declared, in their place. Routes with which other code has replaced one, and handlers that it
  /// has set, stay. If this throws, some routes may have changed.
  mutating func declare(_ routes: [Route], replacing: Bool) throws(RouterConfigurationError) {
    var place = replacing ? removeDeclared(for: routes.count) : nextPlace
    nextPlace = max(nextPlace, place + routes.count)
    for route in routes {
      let key = UTF8Key(route.name)
      let handler = boundHandlers[key]
      if let handler, !handler.supports(route.kind) {
        throw .handlerMismatch(route: route.name, kind: route.kind)
      }
      if isReplaced(route.name) { continue }
      if entries[key] != nil { throw .duplicateName(route.name) }
      let route = handler.map(route.with) ?? route
      _ = insert(route, try shapes(of: route), at: place, isDeclared: true)
      place += 1
    }
    declaredNames = Set(routes.map { UTF8Key($0.name) }).union(replacing ? [] : declaredNames)
  }

  /// Removes the routes that tables have declared, and returns the first of `count` places for
  /// their replacements.
  private mutating func removeDeclared(for count: Int) -> Int {
    let before = entries.values.sorted { $0.place < $1.place }
    builtTable = nil
    entries = [:]
    namesByShape = [:]
    nextPlace = 0
    var place: Int?
    for var entry in before {
      guard entry.isDeclared else {
        entry.place = nextPlace
        nextPlace += 1
        insert(entry)
        continue
      }
      if place == nil {
        place = nextPlace
        nextPlace += count
      }
      let isHosted = if case .hosted = entry.route.handler { true } else { false }
      let key = UTF8Key(entry.route.name)
      boundHandlers[key] = isHosted ? nil : entry.route.handler
      if isHosted { orphanedHandlers.remove(key) } else { orphanedHandlers.insert(key) }
    }
    return place ?? nextPlace
  }
}

// The entries.
extension RouteRegistry {
  private func entry(of registration: Registration) -> RegisteredRoute? {
    entries[UTF8Key(registration.name)].flatMap { $0.id == registration.id ? $0 : nil }
  }

  /// Returns the shapes of a route's patterns. Throws if one of them belongs to another route than
  /// the replaced one.
  private func shapes(
    of route: Route, replacing replaced: RegisteredRoute? = nil
  ) throws(RouterConfigurationError) -> [RouteShape] {
    var seen: Set<RouteShape> = []
    var shapes: [RouteShape] = []
    for pattern in route.patterns {
      let all = RouteShape.all(
        of: pattern, priority: route.priority, parameters: route.parameters)
      for shape in all {
        // Most routes have one shape, which needs no set.
        if let first = shapes.first {
          if seen.isEmpty { seen.insert(first) }
          guard seen.insert(shape).inserted else {
            throw .conflict(
              RouteConflict(pattern: pattern.text, route: route.name, other: route.name))
          }
        }
        shapes.append(shape)
        if let name = namesByShape[shape], let other = entries[name], other.id != replaced?.id {
          throw .conflict(
            RouteConflict(
              pattern: pattern.text, route: route.name, other: other.route.name,
              lacksHandler: other.route.handler.isUnassigned && !route.handler.isUnassigned))
        }
      }
    }
    return shapes
  }

  /// Registers a route at the place of the replaced one, or as the last one.
  private mutating func put(
    _ route: Route, replacing replaced: RegisteredRoute?
  ) throws(RouterConfigurationError) -> Registration {
    let shapes = try shapes(of: route, replacing: replaced)
    if let replaced { remove(replaced) } else { nextPlace += 1 }
    return insert(route, shapes, at: replaced?.place ?? nextPlace - 1)
  }

  private mutating func insert(
    _ route: Route, _ shapes: [RouteShape], at place: Int, isDeclared: Bool = false
  ) -> Registration {
    lastID += 1
    insert(
      RegisteredRoute(
        id: lastID, place: place, route: route, shapes: shapes, isDeclared: isDeclared))
    return Registration(name: route.name, id: lastID)
  }

  private mutating func insert(_ entry: RegisteredRoute) {
    let key = UTF8Key(entry.route.name)
    entries[key] = entry
    for shape in entry.shapes { namesByShape[shape] = key }
    orphanedHandlers.remove(key)
    builtTable = nil
  }

  private mutating func remove(_ entry: RegisteredRoute) {
    let key = UTF8Key(entry.route.name)
    entries[key] = nil
    for shape in entry.shapes { namesByShape[shape] = nil }
    if boundHandlers[key] != nil { orphanedHandlers.insert(key) }
    builtTable = nil
  }
}

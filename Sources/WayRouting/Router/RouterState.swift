import WayNavigation
import WayPatterns
import WayValues

/// The state of a router. A method that throws has changed nothing.
struct RouterState: Sendable {
  private struct RouteSlot: Sendable {
    let id: UInt64
    var route: Route
    /// The shapes that no other route's patterns may have.
    let shapes: [PatternShape]
    /// Whether a table declares the route.
    var isDeclared = false
  }

  /// A service and the routes of its methods.
  struct ServiceEntry: Sendable {
    var name: String
    var slot: any Sendable
    /// The ``RouteService``, if one was registered.
    var provider: ObjectIdentifier?
    var methods: [Registration] = []
  }

  /// The routes by their place, which is constant.
  private var slots = RouterSlotTable<RouteSlot>()
  private var placeByName = RouterShardedDictionary<UTF8Key, Int>()
  private var placeByShape = RouterShardedDictionary<PatternShape, Int>()
  private var nextPlace = 0
  private var lastID: UInt64 = 0
  private(set) var schemes: [String: RouterSchemeTable.SchemeRule] {
    didSet { parts.schemes = nil }
  }
  /// The parts that snapshots hold as they are.
  var settings = RouterSettings()
  /// The settings of code; `nil` leaves them to a table.
  var plusIsSpace: Bool?
  var tabs: [RouteURI]?
  var actions: [String: PatternTarget]?
  var redirects = RedirectList() { didSet { parts.redirects = nil } }
  /// The services by type.
  var services: [ObjectIdentifier: ServiceEntry] = [:]
  /// The interceptors in the order in which they were added.
  var interceptors: [Interceptor] = [] { didSet { parts.interceptors = nil } }

  /// The declarations of tables except routes and redirects.
  var declared = DeclaredRules() { didSet { parts.schemes = nil } }
  /// The handlers that other code has given to routes of a table, for the next time that it is
  /// loaded.
  private var boundHandlers: [UTF8Key: RouteHandler] = [:]
  /// The parts that snapshots share.
  var parts = RouterSnapshotParts()

  init() {
    var schemes: [String: RouterSchemeTable.SchemeRule] = [:]
    for (scheme, dispatcher) in SchemeDispatcher.builtIn {
      schemes[scheme] = .init(dispatcher: dispatcher)
    }
    self.schemes = schemes
  }

  /// All routes in the order of registration.
  var routes: [RoutingTable.PlacedRoute] { slots.ordered.map { ($0.place, $0.slot.route) } }

  /// Returns the snapshot of the state, whose table of routes is up to date.
  mutating func makeSnapshot(version: Int) -> RouterSnapshot {
    var settings = settings
    settings.plusIsSpace = plusIsSpace ?? declared.plusIsSpace
    settings.tabs = tabs ?? declared.tabs
    settings.actions = actions ?? declared.actions
    return RouterSnapshot(
      version: version, settings: settings, routes: parts.routes, schemes: schemeTable(),
      interceptors: interceptorTable(), redirects: redirectTable())
  }

  /// Returns the route at a place; `nil` if it was removed.
  func route(at place: Int) -> Route? { slots[place]?.route }

  func isRegistered(_ name: String) -> Bool { placeByName[UTF8Key(name)] != nil }

  /// Returns the module that has yet to give a route its handler.
  func module(of name: String) -> LazyModule? {
    guard let slot = placeByName[UTF8Key(name)],
      case .lazy(let module)? = slots[slot]?.route.handler
    else { return nil }
    return module
  }

  /// Adds a route. If `replacing` is `true`, it replaces the one with the same name.
  mutating func add(_ route: Route, replacing: Bool) throws(RouterConfigurationError)
    -> Registration
  {
    guard let slot = placeByName[UTF8Key(route.name)] else {
      return store(route, try check(route, for: nil), in: nil)
    }
    guard replacing else { throw .duplicateName(route.name) }
    return store(route, try check(route, for: slot), in: slot)
  }

  /// Replaces a registered route; the new route may have another name.
  mutating func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterConfigurationError) -> Registration {
    guard let slot = slot(of: registration) else { throw .unknownRoute(registration.name) }
    if let other = placeByName[UTF8Key(route.name)], other != slot {
      throw .duplicateName(route.name)
    }
    return store(route, try check(route, for: slot), in: slot)
  }

  /// Replaces the route with a name.
  mutating func replace(_ name: String, with route: Route) throws(RouterConfigurationError)
    -> Registration
  {
    guard let registration = registration(of: name) else { throw .unknownRoute(name) }
    return try replace(registration, with: route)
  }

  /// Returns the current registration of a name.
  func registration(of name: String) -> Registration? {
    placeByName[UTF8Key(name)].flatMap { slots[$0] }.map { Registration(name: name, id: $0.id) }
  }

  /// Removes a route; returns `false` if the registration is no longer valid.
  mutating func remove(_ registration: Registration) -> Bool {
    guard let slot = slot(of: registration) else { return false }
    unindex(slot)
    slots[slot] = nil
    return true
  }

  /// Adds the routes of a table. If `replacing` is `true`, they replace all routes that tables have
  /// declared. Routes with which other code has replaced one, and handlers that it has set, stay.
  mutating func declare(_ routes: [Route], replacing: Bool) throws(RouterConfigurationError) {
    var place = replacing ? removeDeclared(for: routes.count) : nextPlace
    nextPlace = max(nextPlace, place + routes.count)
    for route in routes {
      let key = UTF8Key(route.name)
      let handler = boundHandlers[key]
      if let handler, !handler.supports(route.kind) {
        throw .handlerMismatch(route: route.name, kind: route.kind)
      }
      if let place = placeByName[key] {
        // Other code has replaced the table's route.
        if settings.declaredNames.contains(key), slots[place]?.isDeclared == false { continue }
        throw .duplicateName(route.name)
      }
      let route = handler.map(route.with) ?? route
      insert(makeSlot(route, try check(route, for: nil), isDeclared: true), in: place)
      place += 1
    }
    settings.declaredNames = Set(routes.map { UTF8Key($0.name) })
      .union(replacing ? [] : settings.declaredNames)
    parts.invalidateRoutes()
  }

  /// Removes the routes that tables have declared, and returns the first of `count` places for
  /// their replacements.
  private mutating func removeDeclared(for count: Int) -> Int {
    let before = slots.ordered.map(\.slot)
    slots = RouterSlotTable()
    placeByName = RouterShardedDictionary()
    placeByShape = RouterShardedDictionary()
    nextPlace = 0
    var place: Int?
    for slot in before {
      guard slot.isDeclared else {
        insert(slot, in: nextPlace)
        nextPlace += 1
        continue
      }
      if place == nil {
        place = nextPlace
        nextPlace += count
      }
      let isHosted = if case .hosted = slot.route.handler { true } else { false }
      let key = UTF8Key(slot.route.name)
      boundHandlers[key] = isHosted ? nil : slot.route.handler
      if isHosted {
        settings.orphanedHandlers.remove(key)
      } else {
        settings.orphanedHandlers.insert(key)
      }
    }
    return place ?? nextPlace
  }

  /// Sets the handler of a route; its registration stays valid.
  mutating func bind(_ name: String, to handler: RouteHandler) throws(RouterConfigurationError) {
    guard let slot = placeByName[UTF8Key(name)], let route = slots[slot]?.route else {
      throw .unknownRoute(name)
    }
    guard handler.supports(route.kind) else {
      throw .handlerMismatch(route: name, kind: route.kind)
    }
    slots[slot]?.route = route.with(handler)
    parts.recordChange(slot)
  }

  /// Changes the rule of a scheme.
  mutating func change(
    _ scheme: String, _ change: (inout RouterSchemeTable.SchemeRule) -> Void
  ) throws(RouterConfigurationError) {
    guard RouteURI.isScheme(scheme) else { throw .invalidScheme(scheme) }
    change(&schemes[scheme.lowercased(), default: .init()])
  }

  private func slot(of registration: Registration) -> Int? {
    guard let slot = placeByName[UTF8Key(registration.name)], slots[slot]?.id == registration.id
    else { return nil }
    return slot
  }

  /// Checks that a route may have a slot, and returns its shapes.
  private func check(_ route: Route, for slot: Int?) throws(RouterConfigurationError)
    -> [PatternShape]
  {
    guard !route.name.isEmpty, !route.patterns.isEmpty else {
      throw .incomplete(route: route.name)
    }
    guard route.handler.supports(route.kind) else {
      throw .handlerMismatch(route: route.name, kind: route.kind)
    }
    try Self.checkParameters(of: route)
    try Self.checkFallback(of: route)
    var seen: Set<PatternShape> = []
    var shapes: [PatternShape] = []
    for pattern in route.patterns {
      if let scheme = pattern.scheme, let dispatcher = schemes[scheme]?.dispatcher,
        !dispatcher.accepts(route.kind)
      {
        throw .kindMismatch(
          route: route.name, kind: route.kind, scheme: scheme, dispatcher: dispatcher.name)
      }
      for shape in PatternShape.all(of: pattern, priority: route.priority) {
        // Most routes have one shape, which needs no set.
        if let first = shapes.first {
          if seen.isEmpty { seen.insert(first) }
          guard seen.insert(shape).inserted else {
            throw .conflict(
              RouteConflict(pattern: pattern.text, route: route.name, other: route.name))
          }
        }
        shapes.append(shape)
        if let other = placeByShape[shape], other != slot, let existing = slots[other]?.route {
          throw .conflict(
            RouteConflict(
              pattern: pattern.text, route: route.name, other: existing.name,
              lacksHandler: existing.handler.isUnassigned && !route.handler.isUnassigned))
        }
      }
    }
    return shapes
  }

  private static func checkParameters(of route: Route) throws(RouterConfigurationError) {
    var names: Set<UTF8Key> = []
    for parameter in route.parameters {
      let fault =
        names.insert(UTF8Key(parameter.name)).inserted
        ? parameter.contradiction : "it is declared twice"
      if let fault {
        throw .invalidParameter(route: route.name, parameter: parameter.name, reason: fault)
      }
    }
  }

  private static func checkFallback(of route: Route) throws(RouterConfigurationError) {
    guard let fallback = route.fallback else { return }
    for pattern in route.patterns {
      if let name = fallback.firstParameter(missingIn: pattern) {
        throw .invalidFallback(route: route.name, parameter: name, pattern: pattern.text)
      }
    }
  }

  private mutating func makeSlot(
    _ route: Route, _ shapes: [PatternShape], isDeclared: Bool = false
  ) -> RouteSlot {
    lastID += 1
    return RouteSlot(id: lastID, route: route, shapes: shapes, isDeclared: isDeclared)
  }

  private mutating func store(
    _ route: Route, _ shapes: [PatternShape], in slot: Int?
  ) -> Registration {
    let new = makeSlot(route, shapes)
    if let slot { unindex(slot) } else { nextPlace += 1 }
    insert(new, in: slot ?? nextPlace - 1)
    return Registration(name: route.name, id: new.id)
  }

  private mutating func insert(_ entry: RouteSlot, in slot: Int) {
    slots[slot] = entry
    let key = UTF8Key(entry.route.name)
    placeByName[key] = slot
    for shape in entry.shapes { placeByShape[shape] = slot }
    settings.orphanedHandlers.remove(key)
    parts.recordChange(slot)
  }

  private mutating func unindex(_ slot: Int) {
    guard let entry = slots[slot] else { return }
    let key = UTF8Key(entry.route.name)
    placeByName[key] = nil
    for shape in entry.shapes { placeByShape[shape] = nil }
    if boundHandlers[key] != nil { settings.orphanedHandlers.insert(key) }
    parts.recordChange(slot)
  }
}

import WayNavigation
import WayPatterns
import WayValues

/// What a router holds. A method that throws has changed nothing.
struct RouterState: Sendable {
  private struct Slot: Sendable {
    let id: UInt64
    var route: Route
    /// What nobody else's patterns may be.
    let shapes: [PatternShape]
    /// Whether a table declares it.
    var isDeclared = false
  }

  /// A service and the routes of its methods.
  struct ServiceEntry: Sendable {
    var name: String
    var slot: any Sendable
    /// The ``RouteService``, where one was registered.
    var provider: ObjectIdentifier?
    var methods: [Registration] = []
  }

  /// By the place of the route among all, which it keeps.
  private var slots = RouterSlotTable<Slot>()
  private var placeByName = RouterShardedDictionary<UTF8Key, Int>()
  private var placeByShape = RouterShardedDictionary<PatternShape, Int>()
  private var nextPlace = 0
  private var lastID: UInt64 = 0
  private(set) var schemes: [String: SchemeTable.Rule] { didSet { parts.schemes = nil } }
  var undefinedRoute: UndefinedRouteHandler?
  var failedCall: FailedCallHandler?
  /// These are nil where only a table may say so.
  var plusIsSpace: Bool?
  var tabs: [RouteURI]?
  var actions: [String: PatternTarget]?
  var redirects = RedirectList() { didSet { parts.redirects = nil } }
  /// By the type of the service.
  var services: [ObjectIdentifier: ServiceEntry] = [:]
  /// In the order in which they were added.
  var interceptors: [Interceptor] = [] { didSet { parts.interceptors = nil } }
  var hooks: [RouteHook] = []
  /// The groups that routes were added to.
  var groups = AddedGroups()

  /// What tables declare beside routes and redirects.
  var declared = DeclaredRules() { didSet { parts.schemes = nil } }
  /// The table that was loaded last; nil for none.
  var table: TableStamp?
  /// The names of the routes that tables declare, whether they are theirs still.
  private(set) var declaredNames: Set<UTF8Key> = []
  /// The handlers that other code has given to routes of a table, for when it is loaded anew.
  private var boundHandlers: [UTF8Key: RouteHandler] = [:]
  /// Those of them whose route no table has any more.
  private(set) var strayHandlers: Set<UTF8Key> = []
  /// What a snapshot is made of.
  var parts = SnapshotParts()

  init() {
    var schemes: [String: SchemeTable.Rule] = [:]
    for (scheme, dispatcher) in SchemeDispatcher.builtIn {
      schemes[scheme] = .init(dispatcher: dispatcher)
    }
    self.schemes = schemes
  }

  /// All routes in the order of registration.
  var routes: [RouteTable.Placed] { slots.ordered.map { ($0.place, $0.slot.route) } }

  /// The route at a place; nil where it was removed.
  func route(at place: Int) -> Route? { slots[place]?.route }

  func isRegistered(_ name: String) -> Bool { placeByName[UTF8Key(name)] != nil }

  /// The module that has yet to give a route its handler.
  func module(of name: String) -> LazyModule? {
    guard let slot = placeByName[UTF8Key(name)],
      case .lazy(let module)? = slots[slot]?.route.handler
    else { return nil }
    return module
  }

  /// Adds a route, or puts it in the place of the one of its name when `replacing`.
  mutating func add(_ route: Route, replacing: Bool) throws(RouterError) -> Registration {
    guard let slot = placeByName[UTF8Key(route.name)] else {
      return place(route, try check(route, for: nil), in: nil)
    }
    guard replacing else { throw .nameTaken(route.name) }
    return place(route, try check(route, for: slot), in: slot)
  }

  /// Puts a route in the place of a registered one, whose name it need not have.
  mutating func replace(
    _ registration: Registration, with route: Route
  ) throws(RouterError) -> Registration {
    guard let slot = slot(of: registration) else { throw .unknown(registration.name) }
    if let other = placeByName[UTF8Key(route.name)], other != slot {
      throw .nameTaken(route.name)
    }
    return place(route, try check(route, for: slot), in: slot)
  }

  /// Puts a route in the place of the one with a name.
  mutating func replace(_ name: String, with route: Route) throws(RouterError) -> Registration {
    guard let registration = registration(of: name) else { throw .unknown(name) }
    return try replace(registration, with: route)
  }

  /// What stands for the route of a name now.
  func registration(of name: String) -> Registration? {
    placeByName[UTF8Key(name)].flatMap { slots[$0] }.map { Registration(name: name, id: $0.id) }
  }

  /// False when the registration is not in force any more.
  mutating func remove(_ registration: Registration) -> Bool {
    guard let slot = slot(of: registration) else { return false }
    forget(slot)
    slots[slot] = nil
    return true
  }

  /// Adds the routes of a table. `anew` puts them in the place of all that tables have declared;
  /// what other code has put into the place of one, and the handlers that it gave to them, stay.
  mutating func declare(_ routes: [Route], anew: Bool) throws(RouterError) {
    var place = anew ? forgetDeclared(for: routes.count) : nextPlace
    nextPlace = max(nextPlace, place + routes.count)
    for route in routes {
      let key = UTF8Key(route.name)
      let handler = boundHandlers[key]
      if let handler, !handler.fits(route.kind) {
        throw .handlerUnfit(route: route.name, kind: route.kind)
      }
      if let taken = placeByName[key] {
        // Other code has put a route of its own in the place of the table's.
        if declaredNames.contains(key), slots[taken]?.isDeclared == false { continue }
        throw .nameTaken(route.name)
      }
      let route = handler.map(route.with) ?? route
      remember(newSlot(route, try check(route, for: nil), isDeclared: true), in: place)
      place += 1
    }
    declaredNames = Set(routes.map { UTF8Key($0.name) }).union(anew ? [] : declaredNames)
    parts.forgetRoutes()
  }

  /// Takes out what tables have declared, and gives the first of `count` places for what comes
  /// instead.
  private mutating func forgetDeclared(for count: Int) -> Int {
    let before = slots.ordered.map(\.slot)
    slots = RouterSlotTable()
    placeByName = RouterShardedDictionary()
    placeByShape = RouterShardedDictionary()
    nextPlace = 0
    var place: Int?
    for slot in before {
      guard slot.isDeclared else {
        remember(slot, in: nextPlace)
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
      if isHosted { strayHandlers.remove(key) } else { strayHandlers.insert(key) }
    }
    return place ?? nextPlace
  }

  /// Gives a route another handler; its registration stays in force.
  mutating func bind(_ name: String, to handler: RouteHandler) throws(RouterError) {
    guard let slot = placeByName[UTF8Key(name)], let route = slots[slot]?.route else {
      throw .unknown(name)
    }
    guard handler.fits(route.kind) else { throw .handlerUnfit(route: name, kind: route.kind) }
    slots[slot]?.route = route.with(handler)
    parts.note(slot)
  }

  /// Changes what is known of a scheme.
  mutating func change(
    _ scheme: String, _ change: (inout SchemeTable.Rule) -> Void
  ) throws(RouterError) {
    guard RouteURI.isScheme(scheme) else { throw .invalidScheme(scheme) }
    change(&schemes[scheme.lowercased(), default: .init()])
  }

  private func slot(of registration: Registration) -> Int? {
    guard let slot = placeByName[UTF8Key(registration.name)], slots[slot]?.id == registration.id
    else { return nil }
    return slot
  }

  /// Whether a route may stand in a slot; gives its shapes.
  private func check(_ route: Route, for slot: Int?) throws(RouterError) -> [PatternShape] {
    guard !route.name.isEmpty, !route.patterns.isEmpty else {
      throw .incomplete(route: route.name)
    }
    guard route.handler.fits(route.kind) else {
      throw .handlerUnfit(route: route.name, kind: route.kind)
    }
    try Self.checkParameters(of: route)
    try Self.checkFallback(of: route)
    var own: Set<PatternShape> = []
    var shapes: [PatternShape] = []
    for pattern in route.patterns {
      if let scheme = pattern.scheme, let dispatcher = schemes[scheme]?.dispatcher,
        !dispatcher.takes(route.kind)
      {
        throw .kindUnfit(
          route: route.name, kind: route.kind, scheme: scheme, dispatcher: dispatcher.name)
      }
      for shape in PatternShape.all(of: pattern, priority: route.priority) {
        // Most routes have one shape, which is not worth a set.
        if let first = shapes.first {
          if own.isEmpty { own.insert(first) }
          guard own.insert(shape).inserted else {
            throw .clash(
              RouteConflict(pattern: pattern.text, route: route.name, other: route.name))
          }
        }
        shapes.append(shape)
        if let other = placeByShape[shape], other != slot, let taken = slots[other]?.route {
          throw .clash(
            RouteConflict(
              pattern: pattern.text, route: route.name, other: taken.name,
              lacksHandler: taken.handler.isOpen && !route.handler.isOpen))
        }
      }
    }
    return shapes
  }

  private static func checkParameters(of route: Route) throws(RouterError) {
    var names: Set<UTF8Key> = []
    for parameter in route.parameters {
      let fault =
        names.insert(UTF8Key(parameter.name)).inserted ? parameter.fault : "it is declared twice"
      if let fault {
        throw .parameterUnfit(route: route.name, parameter: parameter.name, reason: fault)
      }
    }
  }

  private static func checkFallback(of route: Route) throws(RouterError) {
    guard let fallback = route.fallback else { return }
    for pattern in route.patterns {
      if let name = fallback.firstName(missingIn: pattern) {
        throw .fallbackUnfit(route: route.name, parameter: name, pattern: pattern.text)
      }
    }
  }

  private mutating func newSlot(
    _ route: Route, _ shapes: [PatternShape], isDeclared: Bool = false
  ) -> Slot {
    lastID += 1
    return Slot(id: lastID, route: route, shapes: shapes, isDeclared: isDeclared)
  }

  private mutating func place(
    _ route: Route, _ shapes: [PatternShape], in slot: Int?
  ) -> Registration {
    let new = newSlot(route, shapes)
    if let slot { forget(slot) } else { nextPlace += 1 }
    remember(new, in: slot ?? nextPlace - 1)
    return Registration(name: route.name, id: new.id)
  }

  private mutating func remember(_ entry: Slot, in slot: Int) {
    slots[slot] = entry
    let key = UTF8Key(entry.route.name)
    placeByName[key] = slot
    for shape in entry.shapes { placeByShape[shape] = slot }
    strayHandlers.remove(key)
    parts.note(slot)
  }

  private mutating func forget(_ slot: Int) {
    guard let entry = slots[slot] else { return }
    let key = UTF8Key(entry.route.name)
    placeByName[key] = nil
    for shape in entry.shapes { placeByShape[shape] = nil }
    if boundHandlers[key] != nil { strayHandlers.insert(key) }
    parts.note(slot)
  }
}

import WayPatterns
import WayValues

/// What snapshots are made of, kept from one to the next; and what has changed meanwhile.
struct SnapshotParts: Sendable {
  /// What the schemes say, and who serves them.
  typealias Schemes = (table: SchemeTable, dispatchers: [String: SchemeDispatcher])

  /// These are nil from a change on, until they are made anew.
  var schemes: Schemes?
  var redirects: RedirectTable??
  var interceptors: InterceptorTable??

  private(set) var routes = RouteTable([])
  /// The places of routes that have changed since; nil for so many that all are read anew.
  private var changed: [Int]? = []
  /// Those that have changed while a table is made aside; nil while none is.
  private var meanwhile: [Int]?
  /// Grows when what is made aside is of no use any more.
  private var generation = 0

  /// The route of a place has changed.
  mutating func note(_ place: Int) {
    meanwhile?.append(place)
    guard let count = changed?.count else { return }
    if count < routes.patience { changed?.append(place) } else { changed = nil }
  }

  /// All routes may have changed, and their places too.
  mutating func forgetRoutes() {
    changed = nil
    meanwhile = nil
    generation += 1
  }
}

extension SnapshotParts {
  /// A table of routes that is to be made anew aside.
  struct Order: Sendable {
    let table: RouteTable
    fileprivate let generation: Int
  }

  /// Carries over what has changed, where `route` gives what is at a place. False when the table
  /// has to be made of all routes.
  fileprivate mutating func carryOver(_ route: (Int) -> Route?) -> Bool {
    guard let changed else { return false }
    for place in changed { routes.put(route(place), at: place) }
    self.changed = []
    return !routes.isDue.now
  }

  fileprivate mutating func take(_ table: RouteTable) {
    forgetRoutes()
    routes = table
    changed = []
  }

  /// Orders a table where it is due and not being made.
  mutating func order() -> Order? {
    guard meanwhile == nil, routes.isDue.aside else { return nil }
    meanwhile = []
    return Order(table: routes, generation: generation)
  }

  /// What has changed since the order or since this was last asked; nil when what was ordered is of
  /// no use.
  fileprivate mutating func changes(since order: Order) -> Set<Int>? {
    guard order.generation == generation, let places = meanwhile else { return nil }
    meanwhile = []
    return Set(places)
  }
}

extension RouterState {
  /// How many changes are carried over at most while readers wait.
  private static let maxWait = 64

  /// Brings the table of routes up to date. Gives the one that it had before where it was made
  /// anew: to be freed when nobody waits.
  mutating func renewRoutes() -> RouteTable? {
    var parts = SnapshotParts()
    swap(&parts, &self.parts)
    defer { swap(&parts, &self.parts) }
    guard !parts.carryOver(route(at:)) else { return nil }
    let before = parts.routes
    parts.take(RouteTable(routes))
    return before
  }

  /// Takes a table that was made aside, and gives the one that it had before in its place; false
  /// when it is of no use. Gives what has changed meanwhile instead where that is much: to be carried
  /// over aside too.
  mutating func take(
    _ made: inout RouteTable, of order: SnapshotParts.Order
  ) -> (isTaken: Bool, changes: [(place: Int, route: Route?)]) {
    guard let places = parts.changes(since: order) else { return (false, []) }
    let changes = places.map { (place: $0, route: route(at: $0)) }
    guard changes.count <= Self.maxWait else { return (false, changes) }
    for (place, route) in changes { made.put(route, at: place) }
    let before = parts.routes
    parts.take(made)
    made = before
    return (true, [])
  }

  /// What the schemes say, and who serves them.
  mutating func madeSchemes() -> SnapshotParts.Schemes {
    if let made = parts.schemes { return made }
    let made = (
      table: SchemeTable(declared.over(schemes)),
      dispatchers: schemes.compactMapValues(\.dispatcher)
    )
    parts.schemes = made
    return made
  }

  /// Nil where there are none.
  mutating func madeRedirects() -> RedirectTable? {
    if let made = parts.redirects { return made }
    let made = RedirectTable(redirects.redirects)
    parts.redirects = .some(made)
    return made
  }

  /// Nil where there are none.
  mutating func madeInterceptors() -> InterceptorTable? {
    if let made = parts.interceptors { return made }
    let made = InterceptorTable(interceptors)
    parts.interceptors = .some(made)
    return made
  }
}

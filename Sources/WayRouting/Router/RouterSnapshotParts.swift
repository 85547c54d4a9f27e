import WayPatterns
import WayValues

/// The parts of snapshots that one snapshot shares with the next, and the changes since.
struct RouterSnapshotParts: Sendable {
  /// These are `nil` from a change until they are rebuilt.
  var schemes: RouterSchemeTable?
  var redirects: RedirectTable??
  var interceptors: InterceptorTable??

  private(set) var routes = RoutingTable([])
  /// The places of routes that have changed since; `nil` after so many changes that all are read
  /// again.
  private var changedPlaces: [Int]? = []
  /// The places that have changed during a rebuild in the background; `nil` while there is none.
  private var pendingChanges: [Int]?
  /// Grows when a rebuild in the background becomes useless.
  private var generation = 0

  /// Records a change of the route at a place.
  mutating func recordChange(_ place: Int) {
    pendingChanges?.append(place)
    guard let count = changedPlaces?.count else { return }
    if count < routes.maxIncrementalChanges {
      changedPlaces?.append(place)
    } else {
      changedPlaces = nil
    }
  }

  /// Records that all routes and their places may have changed.
  mutating func invalidateRoutes() {
    changedPlaces = nil
    pendingChanges = nil
    generation += 1
  }
}

extension RouterSnapshotParts {
  /// A rebuild of the table of routes in the background.
  struct RoutesRebuild: Sendable {
    let table: RoutingTable
    fileprivate let generation: Int
  }

  /// Applies the changes; `route` returns the route at a place. Returns `false` if the table has to
  /// be built from all routes.
  fileprivate mutating func applyChanges(_ route: (Int) -> Route?) -> Bool {
    guard let changedPlaces else { return false }
    for place in changedPlaces { routes.put(route(place), at: place) }
    self.changedPlaces = []
    return !routes.isRebuildDue.now
  }

  fileprivate mutating func adopt(_ table: RoutingTable) {
    invalidateRoutes()
    routes = table
    changedPlaces = []
  }

  /// Begins a rebuild if one is due and none is running.
  mutating func beginRebuild() -> RoutesRebuild? {
    guard pendingChanges == nil, routes.isRebuildDue.inBackground else { return nil }
    pendingChanges = []
    return RoutesRebuild(table: routes, generation: generation)
  }

  /// Returns the changes since the rebuild began or since the last call; `nil` if the rebuild is
  /// useless.
  fileprivate mutating func changes(since rebuild: RoutesRebuild) -> Set<Int>? {
    guard rebuild.generation == generation, let places = pendingChanges else { return nil }
    pendingChanges = []
    return Set(places)
  }
}

extension RouterState {
  /// The maximum number of changes that are applied while readers wait.
  private static let maxBlockingChanges = 64

  /// Updates the table of routes. If it was rebuilt, returns the previous one, to be freed when no
  /// reader waits.
  mutating func refreshRoutes() -> RoutingTable? {
    var parts = RouterSnapshotParts()
    swap(&parts, &self.parts)
    defer { swap(&parts, &self.parts) }
    guard !parts.applyChanges(route(at:)) else { return nil }
    let before = parts.routes
    parts.adopt(RoutingTable(routes))
    return before
  }

  /// Adopts a table that was built in the background, and replaces `table` with the previous one;
  /// `isAdopted` is `false` if the table is useless. If there are many changes since, returns those
  /// instead, to be applied in the background too.
  mutating func adopt(
    _ table: inout RoutingTable, of rebuild: RouterSnapshotParts.RoutesRebuild
  ) -> (isAdopted: Bool, changes: [(place: Int, route: Route?)]) {
    guard let places = parts.changes(since: rebuild) else { return (false, []) }
    let changes = places.map { (place: $0, route: route(at: $0)) }
    guard changes.count <= Self.maxBlockingChanges else { return (false, changes) }
    for (place, route) in changes { table.put(route, at: place) }
    let before = parts.routes
    parts.adopt(table)
    table = before
    return (true, [])
  }

  /// Returns the rules of the schemes.
  mutating func schemeTable() -> RouterSchemeTable {
    if let built = parts.schemes { return built }
    let built = RouterSchemeTable(declared.completing(schemes))
    parts.schemes = built
    return built
  }

  /// Returns the redirects; `nil` if there are none.
  mutating func redirectTable() -> RedirectTable? {
    if let built = parts.redirects { return built }
    let built = RedirectTable(redirects.redirects)
    parts.redirects = .some(built)
    return built
  }

  /// Returns the interceptors; `nil` if there are none.
  mutating func interceptorTable() -> InterceptorTable? {
    if let built = parts.interceptors { return built }
    let built = InterceptorTable(interceptors)
    parts.interceptors = .some(built)
    return built
  }
}

import WayPatterns

/// The routes that a snapshot looks up. Changing one costs little, and copies share their common
/// parts.
struct RoutingTable: Sendable {
  /// A route and its constant place among all routes.
  typealias PlacedRoute = (place: Int, route: Route)

  /// The number of routes in a chunk.
  private static let chunkSize = 256
  /// A table with fewer routes is rebuilt instead of changed.
  private static let minIncrementalCount = 256
  /// The lowest and the highest limit of changes, for any number of routes.
  private static let changeLimits = 64...4096

  /// Replaces a removed route, so that the route is freed.
  private static let vacant = Route(name: "", patterns: [], kind: .page)

  private(set) var trie: LayeredTrie
  /// The routes that the table was built with, by the number of their entries.
  private var chunks: [[Route]]
  private let baseCount: Int
  /// The routes that were added since, with numbers from -1 down.
  private var added: [Route] = []
  /// The numbers of the added routes that have not been removed, by place.
  private var addedNumbers: [Int: Int] = [:]

  /// Creates a table of routes in the order of their places.
  init(_ routes: [PlacedRoute]) {
    trie = LayeredTrie(routes.map { ($0.place, $0.route.patterns, $0.route.priority) })
    baseCount = routes.count
    chunks = stride(from: 0, to: routes.count, by: Self.chunkSize).map { start in
      routes[start..<min(start + Self.chunkSize, routes.count)].map(\.route)
    }
  }

  /// Whether so much has changed that the table should be rebuilt, and how: at once, or in the
  /// background while it is used.
  var isRebuildDue: (now: Bool, inBackground: Bool) {
    let bounds = Self.changeLimits
    let bound = min(max(baseCount / 64, bounds.lowerBound), bounds.upperBound)
    let isDue = trie.changeCount > bound
    let isSmall = baseCount + trie.changeCount <= Self.minIncrementalCount
    return (isDue && isSmall, isDue && !isSmall)
  }

  /// The number of changes in a row up to which applying them costs less than rebuilding the table.
  var maxIncrementalChanges: Int { max(baseCount / 8, Self.changeLimits.lowerBound) }

  /// Returns the route of a form.
  @inline(__always)
  func route(of form: Int) -> Route { self[trie.entry(of: form)] }

  /// Puts a route at a place, or removes the one there if it is `nil`.
  mutating func put(_ route: Route?, at place: Int) {
    if let number = number(at: place) {
      let before = self[number]
      if let route, route.priority == before.priority, route.patterns == before.patterns {
        self[number] = route
        return
      }
      trie.remove(number, before.patterns)
      self[number] = Self.vacant
      addedNumbers[place] = nil
    }
    guard let route else { return }
    trie.insert(route.patterns, priority: route.priority, at: place)
    added.append(route)
    addedNumbers[place] = ~(added.count - 1)
  }

  /// All routes in the order of their places.
  var routes: [PlacedRoute] {
    var addedRoutes = addedNumbers.map { (place: $0, route: self[$1]) }
      .sorted { $0.place < $1.place }[...]
    var routes: [PlacedRoute] = []
    routes.reserveCapacity(baseCount + addedRoutes.count)
    for (number, route) in chunks.joined().enumerated() where route !== Self.vacant {
      let place = trie.place(of: number)
      while let next = addedRoutes.first, next.place < place {
        routes.append(addedRoutes.removeFirst())
      }
      routes.append((place, route))
    }
    return routes + addedRoutes
  }

  /// Returns at most `limit` routes, in any order. Unlike ``routes``, its cost is independent of
  /// the number of all routes.
  func someRoutes(atMost limit: Int) -> [Route] {
    let base = (chunks.first ?? []).prefix(limit)
    return (base + added.prefix(limit - base.count)).filter { $0 !== Self.vacant }
  }

  private func number(at place: Int) -> Int? {
    addedNumbers[place] ?? trie.baseNumber(at: place)
  }

  private subscript(number: Int) -> Route {
    @inline(__always) get {
      number >= 0 ? chunks[number / Self.chunkSize][number % Self.chunkSize] : added[~number]
    }
    set {
      if number >= 0 {
        chunks[number / Self.chunkSize][number % Self.chunkSize] = newValue
      } else {
        added[~number] = newValue
      }
    }
  }
}

import WayPatterns

/// The routes that a snapshot looks up, in the order of their registration.
struct RoutingTable: Sendable {
  /// A route and its place: a number that rises in the order of registration.
  typealias PlacedRoute = (place: Int, route: Route)

  let trie: RouteTrie
  private(set) var routes: [Route]
  private let places: [Int]

  /// Creates a table of routes in the order of their places. The cost is linear in their number.
  init(_ placed: [PlacedRoute]) {
    var patterns: [RouteTrie.PrioritizedPattern] = []
    var owners: [Int] = []
    var typeRanks: [[UInt8]] = []
    let hasTypes = placed.contains { $0.route.matchesByType }
    for (number, (_, route)) in placed.enumerated() {
      for pattern in route.patterns {
        patterns.append((pattern, route.priority))
        owners.append(number)
        guard hasTypes else { continue }
        typeRanks += pattern.parameterNamesOfForms.map { names in
          route.matchesByType ? RouteShape.typeRanks(of: names, route.parameters) : []
        }
      }
    }
    trie = RouteTrie(patterns, owners: owners, typeRanks: typeRanks)
    routes = placed.map(\.route)
    places = placed.map(\.place)
  }

  /// Returns the route of a form.
  @inline(__always)
  func route(of form: Int) -> Route { routes[trie.entry(of: form)] }

  /// Replaces a route by one with the same patterns and priority.
  mutating func replaceRoute(at place: Int, with route: Route) {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    if low < places.count, places[low] == place { routes[low] = route }
  }
}

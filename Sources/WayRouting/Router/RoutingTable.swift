import WayPatterns

/// The routes that a snapshot looks up, of which one is changed at little cost: copies share what
/// they have in common.
struct RouteTable: Sendable {
  /// A route and the place that it has among all for good.
  typealias Placed = (place: Int, route: Route)

  /// How many routes a chunk has.
  private static let width = 256
  /// A table with fewer routes is made anew rather than kept with changes.
  private static let smallest = 256
  /// How many changes are kept at least and at most, whatever the number of routes.
  private static let changes = 64...4096

  /// Stands where a route was, so that nothing of that is kept.
  private static let none = Route(name: "", patterns: [], kind: .page)

  private(set) var trie: LayeredTrie
  /// The routes that the table was made with, by the number of their entries.
  private var chunks: [[Route]]
  private let baseCount: Int
  /// Those that were added since, from -1 down.
  private var added: [Route] = []
  /// The numbers of those that are still there, by place.
  private var addedNumbers: [Int: Int] = [:]

  /// A table of routes whose places rise.
  init(_ routes: [Placed]) {
    trie = LayeredTrie(routes.map { ($0.place, $0.route.patterns, $0.route.priority) })
    baseCount = routes.count
    chunks = stride(from: 0, to: routes.count, by: Self.width).map { start in
      routes[start..<min(start + Self.width, routes.count)].map(\.route)
    }
  }

  /// Whether so much has changed that it should be made anew, and how: at once, or aside while it
  /// goes on to be used.
  var isDue: (now: Bool, aside: Bool) {
    let bounds = Self.changes
    let bound = min(max(baseCount / 64, bounds.lowerBound), bounds.upperBound)
    let isDue = trie.changeCount > bound
    let isSmall = baseCount + trie.changeCount <= Self.smallest
    return (isDue && isSmall, isDue && !isSmall)
  }

  /// How many changes in a row cost less to carry over than to make the table anew.
  var patience: Int { max(baseCount / 8, Self.changes.lowerBound) }

  /// The route that a form leads to.
  @inline(__always)
  func route(of form: Int) -> Route { self[trie.entry(of: form)] }

  /// Puts a route in a place, or empties it.
  mutating func put(_ route: Route?, at place: Int) {
    if let number = number(at: place) {
      let before = self[number]
      if let route, route.priority == before.priority, route.patterns == before.patterns {
        self[number] = route
        return
      }
      trie.remove(number, before.patterns)
      self[number] = Self.none
      addedNumbers[place] = nil
    }
    guard let route else { return }
    trie.insert(route.patterns, priority: route.priority, at: place)
    added.append(route)
    addedNumbers[place] = ~(added.count - 1)
  }

  /// All in the order of their places.
  var routes: [Placed] {
    var others = addedNumbers.map { (place: $0, route: self[$1]) }
      .sorted { $0.place < $1.place }[...]
    var routes: [Placed] = []
    routes.reserveCapacity(baseCount + others.count)
    for (number, route) in chunks.joined().enumerated() where route !== Self.none {
      let place = trie.place(of: number)
      while let other = others.first, other.place < place { routes.append(others.removeFirst()) }
      routes.append((place, route))
    }
    return routes + others
  }

  private func number(at place: Int) -> Int? {
    addedNumbers[place] ?? trie.baseNumber(at: place)
  }

  private subscript(number: Int) -> Route {
    @inline(__always) get {
      number >= 0 ? chunks[number / Self.width][number % Self.width] : added[~number]
    }
    set {
      if number >= 0 {
        chunks[number / Self.width][number % Self.width] = newValue
      } else {
        added[~number] = newValue
      }
    }
  }
}

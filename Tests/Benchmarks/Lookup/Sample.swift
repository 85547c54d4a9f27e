import Waybridge

// URIs to look up, each with its expected route.
struct Sample {
  // Number of URIs over which lookups are spread.
  static let count = 1_000

  // Number of patterns of a kind in the smallest table.
  static let fewest = 25

  let uris: [RouteURI]
  let routes: [String?]

  // URIs spread evenly over `perKind` patterns of a kind, or over `few` of them that are evenly
  // spaced, in mixed order.
  init(of kind: PatternKind, perKind: Int, few: Int? = nil) throws {
    let few = few ?? perKind
    let picks = Self.picks(few).map { $0 * perKind / few }
    uris = try picks.enumerated().map { try RouteURI(kind.uri($1, $0)) }
    routes = picks.map(kind.pattern)
  }

  // URIs of all kinds that match no pattern.
  init(missing perKind: Int) throws {
    uris = try Self.picks(perKind).enumerated().map { place, index in
      try RouteURI(PatternKind.allCases[place % PatternKind.allCases.count].miss(index))
    }
    routes = uris.map { _ in nil }
  }

  private init(_ uris: [RouteURI], _ routes: [String?]) {
    self.uris = uris
    self.routes = routes
  }

  /// The middle one alone.
  var single: Sample {
    let middle = uris.count / 2
    return Sample([uris[middle]], [routes[middle]])
  }

  // Fails unless each URI resolves to its expected route.
  func check(in snapshot: RouterSnapshot) throws {
    for (uri, route) in zip(uris, routes) {
      let found = try snapshot.resolve(uri).route?.name
      guard found == route else {
        throw WrongLookup(
          description: "\(uri) led to \(found ?? "no route") instead of \(route ?? "no route")")
      }
    }
  }

  // Numbers of patterns, spread evenly over all. 367 has no factor in common with the count, so
  // that each number occurs, and neighbours are not adjacent.
  private static func picks(_ perKind: Int) -> [Int] {
    (0..<count).map { ($0 * 367 % count) * perKind / count }
  }
}

// A lookup whose duration is meaningless.
struct WrongLookup: Error, CustomStringConvertible {
  let description: String
}

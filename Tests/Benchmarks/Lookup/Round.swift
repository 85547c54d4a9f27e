import Waybridge

// Measures a router with this number of routes once, and prints a line `ROUTES, WHAT, UNIT, FIGURE`
// for each figure, separated by tabs.
struct Round {
  // Duration of repeated lookups of one kind, in nanoseconds.
  private static let shortest = 50e6

  let count: Int
  var perKind: Int { count / PatternKind.allCases.count }

  func run() throws {
    let patterns = PatternKind.allCases.flatMap { (0..<perKind).map($0.pattern) }
    // The code and the allocator's first pages do not belong to the table.
    _ = try Self.registered(patterns.prefix(100)).snapshot()

    let before = Process.residentBytes()
    var began = Process.nanoseconds()
    let router = try Self.registered(patterns)
    report("registering at once, a route", "µs", since(began) / Double(count) / 1e3)
    began = Process.nanoseconds()
    let snapshot = router.snapshot()
    report("snapshot", "ms", since(began) / 1e6)
    let bytes = Process.residentBytes() - before
    report("memory", "MiB", bytes / 1_048_576)
    report("memory, a route", "bytes", bytes / Double(count))

    try registerOneByOne(patterns)
    try measureLookups(in: snapshot)
    try measureMixed("all kinds", in: snapshot)
    try measureRoutes(of: router)
    try measureRules(of: router)
  }

  // Lookups of all kinds in a table that does not change.
  private func measureMixed(_ what: String, in snapshot: RouterSnapshot) throws {
    let samples = try PatternKind.allCases.map { try Sample(of: $0, perKind: perKind) }
    let uris = samples.flatMap(\.uris)
    let found = uris.filter { (try? snapshot.resolve($0).route) != nil }
    try repeatedly(what, found.count) {
      try found.count { try snapshot.resolve($0).route != nil }
    }
  }

  private static func registered(_ patterns: some Sequence<String>) throws -> Router {
    let router = Router()
    try router.register(
      contentsOf: patterns.map { try Route(name: $0, patterns: [RoutePattern($0)], kind: .page) })
    return router
  }

  private func registerOneByOne(_ patterns: [String]) throws {
    let router = Router()
    let began = Process.nanoseconds()
    for pattern in patterns { try router.page(pattern) }
    report("registering one by one, a route", "µs", since(began) / Double(count) / 1e3)
  }

  private func measureLookups(in snapshot: RouterSnapshot) throws {
    var mixed: [String] = []
    for kind in PatternKind.allCases {
      let spread = try Sample(of: kind, perKind: perKind)
      try measure(kind.rawValue, spread, in: snapshot)
      try measure(
        "\(kind.rawValue), \(Sample.fewest) routes",
        Sample(of: kind, perKind: perKind, few: Sample.fewest), in: snapshot)
      try measure("\(kind.rawValue), one URI", spread.single, in: snapshot)
      mixed += spread.uris.prefix(Sample.count / PatternKind.allCases.count).map(\.text)
    }
    let missing = try Sample(missing: perKind)
    try measure("a miss", missing, in: snapshot)
    try measure("a miss, one URI", missing.single, in: snapshot)
    try repeatedly("explain", mixed.count) {
      mixed.count { snapshot.explain($0).route != nil }
    }
    try repeatedly("reading a URI's text", mixed.count) {
      try mixed.count { try RouteURI($0).scheme != nil }
    }
  }

  private func measure(_ what: String, _ sample: Sample, in snapshot: RouterSnapshot) throws {
    try sample.check(in: snapshot)
    let misses = sample.routes.count { $0 == nil }
    try repeatedly(what, sample.uris.count) {
      try sample.uris.count { try snapshot.resolve($0).route != nil } + misses
    }
  }

  // Runs `body`, which does `count` operations that all have to succeed, until it has run long
  // enough.
  private func repeatedly(_ what: String, _ count: Int, _ body: () throws -> Int) throws {
    var done = 0
    var used = 0.0
    let began = Process.nanoseconds()
    repeat {
      // A single operation is too short to be measured.
      for _ in 0..<max(1, Sample.count / count) {
        let succeeded = try body()
        guard succeeded == count else {
          throw WrongLookup(description: "\(what): \(succeeded) of \(count) succeeded")
        }
        done += count
      }
      used = since(began)
    } while used < Self.shortest
    report(what, "ns", used / Double(done))
  }

  func since(_ began: Double) -> Double { Process.nanoseconds() - began }

  func report(_ what: String, _ unit: String, _ figure: Double) {
    print(count, what, unit, figure, separator: "\t")
  }
}

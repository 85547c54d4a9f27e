import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// What is declared, against who is there to serve it.
package struct HostRouteAudit: Sendable {
  /// How many names of a kind are told.
  private static let maxTold = 1000

  /// Which table was in force.
  package private(set) var table = TableStamp.none
  /// The routes that wait for a host, and have none now.
  package private(set) var unserved: [String] = []
  /// The routes that code has registered, and that the table does not declare.
  package private(set) var undeclared: [String] = []
  /// The routes that code has given a handler, and that the table has no more.
  package private(set) var handlers: [String] = []
  /// What clients host, and no declared route means.
  package private(set) var hosts: [Value] = []

  /// Nothing to tell.
  init() {}

  /// - Parameter definitions: what the clients of all sessions host. Costs by the routes: not for
  ///   the thread of a loop.
  init(_ router: RouterSnapshot, _ definitions: Set<HostDefinition>) {
    table = router.table ?? .none
    handlers = router.strayHandlers
    var index = PatternIndex()
    let numbers = index.add(
      definitions.map { definition in
        (definition.scheme, definition.patterns.compactMap { try? RoutePattern($0) })
      })
    let kinds = Dictionary(uniqueKeysWithValues: zip(numbers, definitions.map(\.kind)))
    let hasTable = router.table != nil
    for route in router.routes {
      if hasTable, !router.declaredNames.contains(UTF8Key(route.name)) {
        undeclared.append(route.name)
      }
      if case .hosted = route.handler, !Self.isServed(route, index, kinds) {
        unserved.append(route.name)
      }
    }
    for definition in definitions where !Self.isMeant(definition, router) {
      hosts.append(definition.value)
    }
  }

  private static func isServed(
    _ route: Route, _ index: PatternIndex, _ kinds: [PatternIndex.Number: RouteKind]
  ) -> Bool {
    route.patterns.flatMap(\.samples).contains { uri in
      let found = try? index.find(uri) { number, _ in kinds[number] == route.kind }
      return found != nil
    }
  }

  /// Whether a declared route leads to a host.
  private static func isMeant(_ definition: HostDefinition, _ router: RouterSnapshot) -> Bool {
    let patterns = definition.patterns.compactMap { try? RoutePattern($0) }
    guard patterns.isEmpty else {
      return patterns.flatMap(\.samples).contains { uri in
        (try? router.resolve(uri, checking: false))?.route?.kind == definition.kind
      }
    }
    return router.routes.contains { route in
      route.kind == definition.kind
        && route.patterns.contains { $0.scheme == nil || $0.scheme == definition.scheme }
    }
  }

  /// As `table.check` tells it: at most 1,000 of each kind.
  package var value: Value {
    func list(_ names: [String]) -> Value { .list(names.prefix(Self.maxTold).map(Value.string)) }
    return [
      "version": .string(table.version), "hash": .string(table.hash), "unserved": list(unserved),
      "undeclared": list(undeclared), "handlers": list(handlers),
      "hosts": .list(Array(hosts.prefix(Self.maxTold))),
    ]
  }
}

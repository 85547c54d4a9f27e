import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// A comparison of the declared routes with the handlers and hosts that serve them.
package struct HostRouteAudit: Sendable {
  /// The maximum number of names of each kind in ``value``.
  private static let maxListed = 1000

  /// The table that was in force.
  package private(set) var table = TableStamp.none
  /// The routes that need a host, and have none now.
  package private(set) var unserved: [String] = []
  /// The routes that code has registered, and that the table does not declare.
  package private(set) var undeclared: [String] = []
  /// The routes that code has given a handler, and that the table no longer has.
  package private(set) var handlers: [String] = []
  /// The hosts of clients that no declared route leads to.
  package private(set) var hosts: [Value] = []
  /// The schemes whose undefined target, or the undefined-route handler, gets no call unless the
  /// client declines that hosts the whole scheme.
  package private(set) var undefined: [String] = []

  /// An empty comparison.
  init() {}

  /// Compares the routes of a router with hosts. The cost grows with the number of routes: do not
  /// call this on the thread of a loop.
  ///
  /// - Parameter definitions: the hosts that the clients of all sessions have registered.
  init(_ router: RouterSnapshot, _ definitions: Set<SessionHostDefinition>) {
    table = router.table ?? .none
    handlers = router.orphanedHandlers
    var index = PatternIndex()
    let numbers = index.add(
      definitions.map { definition in
        (definition.scheme, definition.patterns.compactMap { try? RoutePattern($0) })
      })
    // Interceptors serve no route.
    let kinds = Dictionary(uniqueKeysWithValues: zip(numbers, definitions.map(\.kind)))
      .compactMapValues(\.self)
    let hasTable = router.table != nil
    var routedSchemes: Set<String> = []
    for route in router.routes {
      routedSchemes.formUnion(route.patterns.compactMap(\.scheme))
      if hasTable, !router.declaredNames.contains(UTF8Key(route.name)) {
        undeclared.append(route.name)
      }
      if case .hosted = route.handler, !Self.isHosted(route, index, kinds) {
        unserved.append(route.name)
      }
    }
    for definition in definitions where !Self.isRouted(definition, router) {
      hosts.append(definition.value)
    }
    let hostedSchemes = Set(definitions.filter(\.patterns.isEmpty).compactMap(\.scheme))
    undefined = hostedSchemes.sorted().filter { scheme in
      router.leavesUndefinedRoutes(
        toHostOf: scheme, isRouted: routedSchemes.contains(scheme))
    }
  }

  private static func isHosted(
    _ route: Route, _ index: PatternIndex,
    _ kinds: [PatternIndex.RegistrationNumber: RouteKind]
  ) -> Bool {
    route.patterns.flatMap(\.sampleURIs).contains { uri in
      let found = try? index.find(uri) { number, _ in kinds[number] == route.kind }
      return found != nil
    }
  }

  /// Whether a declared route leads to a host.
  private static func isRouted(_ definition: SessionHostDefinition, _ router: RouterSnapshot)
    -> Bool
  {
    let patterns = definition.patterns.compactMap { try? RoutePattern($0) }
    guard patterns.isEmpty else {
      return patterns.flatMap(\.sampleURIs).contains { uri in
        (try? router.resolve(uri, checking: false))?.route?.kind == definition.kind
      }
    }
    return router.routes.contains { route in
      route.kind == definition.kind
        && route.patterns.contains { $0.scheme == nil || $0.scheme == definition.scheme }
    }
  }

  /// The value of `table.check`: at most 1,000 names of each kind.
  package var value: Value {
    func list(_ names: [String]) -> Value { .array(names.prefix(Self.maxListed).map(Value.string)) }
    return [
      "version": .string(table.version), "hash": .string(table.hash), "unserved": list(unserved),
      "undeclared": list(undeclared), "handlers": list(handlers),
      "hosts": .array(Array(hosts.prefix(Self.maxListed))), "undefined": list(undefined),
    ]
  }
}

import WayPatterns
import WayRPC
import WayRouting
import WayValues

/// Methods, tasks and a scheme for testing clients and for public test suites:
///
/// - the example methods of the JSON-RPC 2.0 specification (§7), and `echo`;
/// - the tasks `action://echo` and `action://later`;
/// - the scheme `conformance`, with one URI for each path that a call may take.
package enum ConformanceMethods {
  package static let methods: [String: RawMethod] = [
    "subtract": { params throws(CallError) in
      let (minuend, subtrahend) = try operands(params)
      let (difference, overflow) = minuend.subtractingReportingOverflow(subtrahend)
      guard !overflow else { throw .invalidParams("The difference does not fit 64 bits") }
      return .integer(difference)
    },
    "sum": { params throws(CallError) in
      guard let terms = params?.array else {
        throw .invalidParams("sum takes integers by position")
      }
      var sum: Int64 = 0
      for term in terms {
        guard let term = term.integer else {
          throw .invalidParams("sum takes integers by position")
        }
        let (next, overflow) = sum.addingReportingOverflow(term)
        guard !overflow else { throw .invalidParams("The sum does not fit 64 bits") }
        sum = next
      }
      return .integer(sum)
    },
    "get_data": { _ throws(CallError) in ["hello", 5] },
    "notify_hello": { _ throws(CallError) in .null },
    "update": { _ throws(CallError) in .null },
    "echo": { params throws(CallError) in params ?? .null },
  ]

  /// `conformance.owner` returns the server that owns the session, the number of its term, and the
  /// time. The time is in nanoseconds of the machine's monotonic clock.
  static let sessionMethods = [
    SessionMethod("conformance.owner") { session, _, _ throws(CallError) in
      .value([
        "server": .string(session.environment.cluster?.server ?? ""),
        "term": .integer(session.journal?.term ?? 0),
        "at": .integer(Int64(clamping: session.loop.nanoseconds)),
      ])
    }
  ]

  /// Registers the routes; they replace those of an earlier call. `action://echo` returns its
  /// parameters, and `action://later` does so after it has yielded. Also registers the scheme
  /// `conformance`.
  package static func register(in router: Router) throws {
    let routes = [
      try task("action://echo", .task { call in .object(call.params) }),
      try task(
        "action://later",
        .asyncTask { call in
          await Task.yield()
          return .object(call.params)
        }),
      try task("conformance://refused", .task { _ in nil }),
      try task("conformance://moved", .task { _ in nil }),
      try task("conformance://gated", .task { call in .object(call.params) }),
      try task("conformance://gated/twice", .task { call in .object(call.params) }),
      Route(
        name: "conformance://gated/page/:id",
        patterns: [try RoutePattern("conformance://gated/page/:id")], kind: .page,
        parents: [try PatternTarget("conformance://gated/page/first")]),
      try task("conformance://declined", .task { _ in throw Declined() }),
      try task(
        "conformance://calls",
        .asyncTask { call in
          try await call.navigator.invoke(call.params["uri"]?.string ?? "")
        }),
      try task("conformance://absent/:id", .hosted, fallback: "action://echo?id=:id"),
    ]
    for route in routes { try router.register(route, replacing: true) }
    router.intercept("conformance", on: .routes(["conformance://refused"])) { _ in
      .refuse("as it is for tests")
    }
    router.intercept("conformance.moved", on: .routes(["conformance://moved"])) { _ in
      .redirect(to: "action://echo")
    }
    let gated = Set(routes.map(\.name).filter { $0.hasPrefix("conformance://gated") })
    for (name, target, scope) in [
      ("conformance.first", "native://walk/a", gated),
      ("conformance.second", "native://walk/b", ["conformance://gated/twice"]),
    ] {
      router.add(Gate(name, on: [.routes(scope)], opens: try RouteURI(mapping: target)))
    }
    try router.redirect("conformance://old", to: "conformance://older")
    try router.redirect("conformance://older", to: "action://echo")
    try router.redirect("conformance://circle", to: "conformance://circle/back")
    try router.redirect("conformance://circle/back", to: "conformance://circle")
    try router.setUndefinedRoute(scheme: "conformance", leadsTo: "action://echo")
  }

  private static func task(
    _ pattern: String, _ handler: RouteHandler, fallback: String? = nil
  ) throws -> Route {
    Route(
      name: pattern, patterns: [try RoutePattern(pattern)], kind: .task,
      fallback: try fallback.map { try PatternTarget($0) }, handler: handler)
  }

  private static func operands(_ params: Value?) throws(CallError) -> (Int64, Int64) {
    switch params {
    case .array(let values)?:
      if values.count == 2, let minuend = values[0].integer, let subtrahend = values[1].integer {
        return (minuend, subtrahend)
      }
    case .object(let fields)?:
      if let minuend = fields["minuend"]?.integer, let subtrahend = fields["subtrahend"]?.integer {
        return (minuend, subtrahend)
      }
    default: break
    }
    throw .invalidParams("subtract takes two integers: [minuend, subtrahend], or by these names")
  }
}

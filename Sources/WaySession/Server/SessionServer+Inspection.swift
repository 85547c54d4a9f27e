import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayValues

// Queries of clients that inspect the server, across all loops.
extension SessionServer {
  func inspect(_ query: InspectionQuery) async throws(CallError) -> Value {
    switch query {
    case .sessions(let after, let limit): await sessions(after: after, limit: limit)
    case .session(let id, let withRecords): try await session(id, withRecords)
    case .routes: await routes()
    case .rejections: rejectionLog.value
    case .versions: await versions()
    case .cluster:
      throw CallError(
        .noRoute,
        "This server is not part of a cluster; an app sets BridgeConfiguration.sessions.cluster",
        kind: "noCluster")
    case .explain(let uri, let params, let caller):
      try await explanation(of: uri, params, for: caller)
    }
  }

  /// Applies a policy again that was in force before, on every loop. Fails with 2404 if it is no
  /// longer known. Fails with 2409 if the current policy is not `expected`, or if the old one would
  /// not allow `caller` to roll back again.
  func rollBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> ValueObject {
    let (compiledPolicy, current) = try policyVersions.find(hash, expecting: expected)
    let rights = Rights(caller, PolicySource(compiledPolicy))
    guard (try? rights.authorize("policy.rollback", .admin)) != nil else {
      throw CallError(
        .conflict,
        "The policy \(hash) does not allow you policy.rollback, so you could not undo the change",
        kind: "lockedOut")
    }
    try await applyPolicy(compiledPolicy)
    return ["hash": .string(hash), "previous": .string(current)]
  }

  func sessions(after: String?, limit: Int) async -> Value {
    let (page, total) = await ids(after: after, limit + 1)
    let wanted = Array(page.prefix(limit))
    let summaries = await gather { [await $0.summaries(of: wanted)] }
      .reduce(into: [:]) { all, part in all.merge(part) { first, _ in first } }
    var members: ValueObject = [
      "total": .integer(Int64(total)), "sessions": .array(wanted.compactMap { summaries[$0] }),
    ]
    if page.count > limit, let last = wanted.last { members["next"] = .string(last) }
    return .object(members)
  }

  /// Returns the first ids after a given one, in order, and the number of sessions. The cost grows
  /// with the number of sessions: do not call it on the thread of a loop.
  @concurrent
  private func ids(after: String?, _ limit: Int) async -> (page: [String], total: Int) {
    let all = await gather { await $0.sessionIDs() }
    let remaining = after.map { after in all.filter { $0 > after } } ?? all
    return (Array(remaining.sorted().prefix(limit)), all.count)
  }

  private func session(_ id: String, _ withRecords: Bool) async throws(CallError) -> Value {
    guard let detail = await loopSessions(ofSession: id)?.detail(id, withRecords: withRecords)
    else {
      throw LoopSessions.sessionNotFound(id)
    }
    return detail
  }

  private func explanation(
    of uri: String, _ params: ValueObject, for caller: Caller
  ) async throws(CallError) -> Value {
    let id = caller.session
    guard id.isEmpty else {
      let loopSessions = loopSessions(ofSession: id)
      guard let explanation = await loopSessions?.explanation(of: uri, params, for: caller, in: id)
      else {
        throw LoopSessions.sessionNotFound(id)
      }
      return explanation
    }
    let router = configuration.router.snapshot()
    let simulator = PolicySimulator(await sessionsByLoop.first?.compiledPolicy, router)
    var members = router.explain(uri, params: params, for: caller).members
    let denial = simulator.denial(to: caller, ofOpening: uri)
    members["policy"] = denial?.data?["rule"] ?? .null
    if let denial {
      members["canOpen"] = false
      members["reason"] = .string(denial.message)
    }
    members["host"] = .null
    return .object(members)
  }

  private func versions() async -> Value {
    var members: ValueObject = ["table": .null]
    if let table = configuration.sessions.table { members["table"] = await table.history }
    members["policy"] = policyVersions.value(await sessionsByLoop.first?.compiledPolicy)
    return .object(members)
  }

  private func routes() async -> Value {
    let router = configuration.router.snapshot()
    var hosts = await gather { await $0.hostedDefinitions() }
    hosts += serverHosts.definitions.map { ($0, "", "") }
    let loopMeters = await gather { [await $0.routeMeters] }
    var meters: [String: InspectedRouteMeter] = [:]
    for (name, meter) in loopMeters.flatMap(\.meters) {
      meters[name, default: InspectedRouteMeter()] += meter
    }
    let since = loopMeters.compactMap(\.since).min()
    return await Self.routes(router, hosts, meters, since)
  }

  /// The cost grows with the number of routes: do not call it on the thread of a loop.
  @concurrent
  private static func routes(
    _ router: RouterSnapshot,
    _ hosts: [(definition: SessionHostDefinition, session: String, client: String)],
    _ meters: [String: InspectedRouteMeter], _ since: Int64?
  ) async -> Value {
    let routeHosts = RouteHosts(hosts)
    let routes = router.routes.map { route -> Value in
      let inspected = InspectedRoute(
        name: route.name, kind: route.kind.rawValue, patterns: route.patterns.map(\.text),
        title: route.title, served: routeHosts.servers(of: route))
      guard let meter = meters[route.name] else { return RecordCoder.value(of: inspected) }
      var members = RecordCoder.value(of: inspected).object ?? [:]
      members.merge(meter.members)
      return .object(members)
    }
    var members: ValueObject = [
      "since": since.map(Value.integer) ?? .null, "routes": .array(routes),
    ]
    if let others = meters[""] { members["undeclared"] = .object(others.members) }
    return .object(members)
  }
}

/// A declared route in the result of `admin.routes`.
private struct InspectedRoute: Encodable {
  /// What serves a route now.
  struct RouteServers: Encodable {
    struct RouteHost: Encodable {
      let session: String
      let client: String
    }

    /// `server` for Swift code, `clients`, or `nobody`.
    let by: String
    var count: Int?
    var clients: [RouteHost]?
  }

  let name: String
  let kind: String
  let patterns: [String]
  let title: String?
  let served: RouteServers
}

/// The hosts that now serve the declared routes.
private struct RouteHosts {
  private static let maxListed = 8
  private let index: PatternIndex
  /// The clients that have registered hosts with one definition.
  private struct RegisteredClients {
    let kind: RouteKind
    let clients: [(session: String, client: String)]
  }

  private let hosts: [PatternIndex.RegistrationNumber: RegisteredClients]

  init(_ registered: [(definition: SessionHostDefinition, session: String, client: String)]) {
    var definitions: [SessionHostDefinition] = []
    var entries: [RegisteredClients] = []
    for (definition, clients) in Dictionary(grouping: registered, by: \.definition) {
      // Interceptors serve no route.
      guard let kind = definition.kind else { continue }
      definitions.append(definition)
      entries.append(
        RegisteredClients(kind: kind, clients: clients.map { ($0.session, $0.client) }))
    }
    var index = PatternIndex()
    let numbers = index.add(
      definitions.map { ($0.scheme, $0.patterns.compactMap { try? RoutePattern($0) }) })
    self.index = index
    hosts = Dictionary(uniqueKeysWithValues: zip(numbers, entries))
  }

  func servers(of route: Route) -> InspectedRoute.RouteServers {
    guard case .hosted = route.handler else { return .init(by: "server") }
    var found: [(session: String, client: String)] = []
    var seen: Set<PatternIndex.RegistrationNumber> = []
    for uri in route.patterns.flatMap(\.sampleURIs) {
      _ = try? index.find(uri) { number, _ in
        if let entry = hosts[number], entry.kind == route.kind, seen.insert(number).inserted {
          found += entry.clients
        }
        return false
      }
    }
    guard !found.isEmpty else { return .init(by: "nobody") }
    return .init(
      by: "clients", count: found.count,
      clients: found.prefix(Self.maxListed).map { .init(session: $0.session, client: $0.client) })
  }
}

/// The route table in the result of `admin.versions`.
private struct InspectedTable: Encodable {
  let version: String
  let hash: String
  /// Since when it is in force, in milliseconds since 1970-01-01 UTC.
  let since: Int64
  let versions: [TableVersionDescription]
}

extension LiveTable {
  /// The history as `admin.versions` reports it.
  fileprivate var history: Value {
    RecordCoder.value(
      of: InspectedTable(
        version: stamp.version, hash: stamp.hash, since: activeSince,
        versions: comparedVersions.map { earlier in
          .init(
            version: earlier.stamp.version, hash: earlier.stamp.hash, at: earlier.since,
            changes: earlier.changes?.value ?? .null)
        }))
  }
}

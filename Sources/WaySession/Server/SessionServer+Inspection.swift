import WayPatterns
import WayRouting
import WayTable
import WayValues

// What who inspects the server asks, of all loops together.
extension SessionServer {
  func inspect(_ question: InspectionQuery) async throws(CallError) -> Value {
    switch question {
    case .sessions(let after, let limit): await sessions(after: after, limit: limit)
    case .session(let id, let withRecords): try await session(id, withRecords)
    case .routes: await routes()
    case .refusals: refusals.value
    case .versions: await versions()
    case .cluster:
      throw CallError(
        .noRoute, "This server is one alone: its app gives others to BridgeConfiguration.cluster",
        kind: "noCluster")
    case .explain(let uri, let params, let asker):
      try await explanation(of: uri, params, for: asker)
    }
  }

  /// Has rules hold again that were in force before, on every loop. Fails with 2404 where they are
  /// not known any more, and with 2409 where others than `expected` are in force, or `caller` could
  /// not go back from them.
  func goBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> Value {
    let (rulebook, current) = try policies.find(hash, expecting: expected)
    let rights = Rights(caller, PolicySource(rulebook))
    guard (try? rights.enter("policy.rollback", .admin)) != nil else {
      throw CallError(
        .conflict,
        "Under the policy \(hash) you could not go back: it does not allow you "
          + "policy.rollback", kind: "lockedOut")
    }
    await follow(rulebook)
    configuration.logger?.notice(
      "policy gone back", metadata: ["hash": "\(hash)", "previous": "\(current)"])
    return ["hash": .string(hash), "previous": .string(current)]
  }

  func sessions(after: String?, limit: Int) async -> Value {
    let (page, total) = await ids(after: after, limit + 1)
    let wanted = Array(page.prefix(limit))
    let told = await gather { [await $0.briefs(of: wanted)] }
      .reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
    var members: ValueObject = [
      "total": .integer(Int64(total)), "sessions": .list(wanted.compactMap { told[$0] }),
    ]
    if page.count > limit, let last = wanted.last { members["next"] = .string(last) }
    return .object(members)
  }

  /// The first ids behind one, in order, and how many sessions there are. Costs by the sessions: not
  /// for the thread of a loop.
  @concurrent
  private func ids(after: String?, _ limit: Int) async -> (page: [String], total: Int) {
    let all = await gather { Array(await $0.sessions.keys) }
    let rest = after.map { after in all.filter { $0 > after } } ?? all
    return (Array(rest.sorted().prefix(limit)), all.count)
  }

  private func session(_ id: String, _ withRecords: Bool) async throws(CallError) -> Value {
    guard let detail = await hub(ofSession: id)?.detail(id, withRecords: withRecords) else {
      throw LoopSessions.absent(id)
    }
    return detail
  }

  private func explanation(
    of uri: String, _ params: ValueObject, for asker: Caller
  ) async throws(CallError) -> Value {
    let id = asker.session
    guard id.isEmpty else {
      let hub = hub(ofSession: id)
      guard let said = await hub?.explanation(of: uri, params, for: asker, in: id) else {
        throw LoopSessions.absent(id)
      }
      return said
    }
    let router = configuration.router.snapshot()
    let trial = PolicyTrial(await hubs.first?.rulebook, router)
    var members = router.explain(uri, params: params, for: asker).members
    let refusal = trial.refusal(to: asker, ofOpening: uri)
    members["policy"] = refusal?.data?["rule"] ?? .null
    if let refusal {
      members["canOpen"] = false
      members["reason"] = .string(refusal.message)
    }
    members["host"] = .null
    return .object(members)
  }

  private func versions() async -> Value {
    var members: ValueObject = ["table": .null]
    if let table = configuration.table { members["table"] = await table.history }
    members["policy"] = policies.value(await hubs.first?.rulebook)
    return .object(members)
  }

  private func routes() async -> Value {
    let router = configuration.router.snapshot()
    var hosted = await gather { await $0.hosted() }
    hosted += serverHosts.definitions.map { ($0, "", "") }
    let watched = await gather { [await $0.watchedRoutes] }
    var meters: [String: InspectedRouteMeter] = [:]
    for (name, meter) in watched.flatMap(\.meters) {
      meters[name, default: InspectedRouteMeter()] += meter
    }
    let since = watched.compactMap(\.since).min()
    return await Self.routes(router, hosted, meters, since)
  }

  /// Costs by the routes: not for the thread of a loop.
  @concurrent
  private static func routes(
    _ router: RouterSnapshot,
    _ hosted: [(definition: HostDefinition, session: String, client: String)],
    _ meters: [String: InspectedRouteMeter], _ since: Int64?
  ) async -> Value {
    let servers = RouteHosts(hosted)
    let told = router.routes.map { route -> Value in
      var members: ValueObject = [
        "name": .string(route.name), "kind": .string(route.kind.rawValue),
        "patterns": .list(route.patterns.map { .string($0.text) }),
      ]
      members["title"] = route.title.map(Value.string)
      members["served"] = servers.value(of: route)
      if let meter = meters[route.name] { members.merge(meter.members) }
      return .object(members)
    }
    var members: ValueObject = [
      "since": since.map(Value.integer) ?? .null, "routes": .list(told),
    ]
    if let others = meters[""] { members["undeclared"] = .object(others.members) }
    return .object(members)
  }
}

/// Who serves declared routes now.
private struct RouteHosts {
  private static let maxTold = 8
  private let index: PatternIndex
  private let hosts:
    [PatternIndex.Number: [(definition: HostDefinition, session: String, client: String)]]

  init(_ hosted: [(definition: HostDefinition, session: String, client: String)]) {
    let definitions = Dictionary(grouping: hosted, by: \.definition)
    let distinct = Array(definitions.keys)
    var index = PatternIndex()
    let numbers = index.add(
      distinct.map { ($0.scheme, $0.patterns.compactMap { try? RoutePattern($0) }) })
    self.index = index
    hosts = Dictionary(
      uniqueKeysWithValues: zip(numbers, distinct.map { definitions[$0] ?? [] }))
  }

  /// `{by: server}`, or `{by: clients, count, clients}`.
  func value(of route: Route) -> Value {
    guard case .hosted = route.handler else { return ["by": "server"] }
    var found: [(session: String, client: String)] = []
    var seen: Set<PatternIndex.Number> = []
    for uri in route.patterns.flatMap(\.samples) {
      _ = try? index.find(uri) { number, _ in
        if hosts[number]?.first?.definition.kind == route.kind, seen.insert(number).inserted {
          found += (hosts[number] ?? []).map { ($0.session, $0.client) }
        }
        return false
      }
    }
    guard !found.isEmpty else { return ["by": "nobody"] }
    return [
      "by": "clients", "count": .integer(Int64(found.count)),
      "clients": .list(
        found.prefix(Self.maxTold).map { host in
          ["session": .string(host.session), "client": .string(host.client)]
        }),
    ]
  }
}

extension LiveTable {
  /// As `admin.versions` tells it.
  fileprivate var history: Value {
    [
      "version": .string(stamp.version), "hash": .string(stamp.hash),
      "since": .integer(inForceSince),
      "versions": .list(
        comparedVersions.map { earlier in
          [
            "version": .string(earlier.stamp.version), "hash": .string(earlier.stamp.hash),
            "at": .integer(earlier.since), "changes": earlier.changes?.value ?? .null,
          ]
        }),
    ]
  }
}

import WayRouting
import WayTransport
import WayValues

/// What who inspects one server asks of all, and has all do.
struct InspectionDispatch {
  let servers: AllServers
  private var group: SessionServer { servers.group }

  /// Has rules hold again that were in force before, on every server.
  func goBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> Value {
    let here = try await group.goBack(toPolicy: hash, expecting: expected, for: caller)
    guard group.cluster != nil else { return here }
    let answers = await servers.askOthers([
      "ask": "policy", "to": .string(hash), "caller": caller.told(in: caller.session),
    ])
    var members = here.object ?? [:]
    members["servers"] = .list(answers.map(AllServers.told))
    return .object(members)
  }

  /// What who inspects a server asks, of all servers where it is about all.
  func inspect(_ question: InspectionQuery) async throws(CallError) -> Value {
    guard let cluster = group.cluster else { return try await group.inspect(question) }
    switch question {
    case .sessions(let after, let limit):
      return await sessionsEverywhere(after: after, limit: limit, cluster)
    case .session(let id, let withRecords):
      guard case .server(let server) = try await servers.place(of: id) else { break }
      return try await servers.ask(
        server, ["ask": "session", "session": .string(id), "records": .bool(withRecords)])
    case .explain(let uri, let params, let asker) where !asker.session.isEmpty:
      guard case .server(let server) = try await servers.place(of: asker.session) else { break }
      return try await servers.ask(
        server,
        [
          "ask": "explain", "uri": .string(uri), "params": .object(params),
          "caller": asker.told(in: asker.session),
        ])
    case .cluster: return await clusterInfo(cluster)
    case .explain, .routes, .refusals, .versions: break
    }
    return try await group.inspect(question)
  }

  private func sessionsEverywhere(
    after: String?, limit: Int, _ cluster: ClusterNode
  ) async -> Value {
    var question: ValueObject = ["ask": "briefs", "limit": .integer(Int64(limit))]
    question["after"] = after.map(Value.string)
    async let others = servers.askOthers(question)
    let here = await group.sessions(after: after, limit: limit)
    var answers = [(server: cluster.server, value: here)]
    var silent: [Value] = []
    for other in await others {
      switch other.answer {
      case .success(let value): answers.append((other.server, value))
      case .failure: silent.append(AllServers.told(other))
      }
    }
    var total: Int64 = 0
    var briefs: [(id: String, value: Value)] = []
    var isCut = false
    for (server, value) in answers {
      total += value["total"]?.integer ?? 0
      if value["next"] != nil { isCut = true }
      for brief in value["sessions"]?.list ?? [] {
        guard var members = brief.object, let id = members["session"]?.string else { continue }
        members["server"] = .string(server)
        briefs.append((id, .object(members)))
      }
    }
    briefs.sort { $0.id < $1.id }
    var members: ValueObject = [
      "total": .integer(total), "sessions": .list(briefs.prefix(limit).map(\.value)),
    ]
    if !silent.isEmpty { members["silent"] = .list(silent) }
    if isCut || briefs.count > limit, let last = briefs.prefix(limit).last {
      members["next"] = .string(last.id)
    }
    return .object(members)
  }

  private func clusterInfo(_ cluster: ClusterNode) async -> Value {
    var own = await cluster.presence()
    own["server"] = .string(cluster.server)
    let others = cluster.others.map { server, presence -> Value in
      var members = presence
      members["server"] = .string(server)
      members["renewal"] = nil
      return .object(members)
    }
    return [
      "server": .string(cluster.server), "engine": cluster.engine.isReached ? "reached" : "away",
      "leaseMs": .integer(cluster.leaseLeft.milliseconds),
      "takenOver": .integer(Int64(cluster.counts.takenForClients.value)),
      "servers": .list([.object(own)] + others),
    ]
  }
}

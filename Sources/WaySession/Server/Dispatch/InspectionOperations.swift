import WayRouting
import WayValues

/// Returns summaries of the sessions of a server, in the order of their ids.
struct SummariesQuery: PeerOperation, Codable {
  static let method = "peer.summaries"
  /// The id after which they begin; `nil` for the first ones.
  let after: String?
  let limit: Int

  func run(in context: PeerContext) async -> Value {
    await context.server.sessions(after: after, limit: min(max(limit, 0), 1000))
  }
}

/// Returns all details of one session.
struct SessionDetailQuery: PeerOperation, Codable {
  static let method = "peer.session"
  let session: String
  let withRecords: Bool

  func run(in context: PeerContext) async throws(CallError) -> Value {
    try await context.server.inspect(.session(session, withRecords: withRecords))
  }
}

/// Explains how a URI resolves for a caller in a session.
struct ExplanationQuery: PeerOperation, Codable {
  static let method = "peer.explain"
  let uri: String
  let params: ValueObject
  let caller: PeerClientCaller

  func run(in context: PeerContext) async throws(CallError) -> Value {
    try await context.server.inspect(.explain(uri: uri, params: params, caller: caller.caller))
  }
}

extension SessionDispatch {
  /// Returns the result of an administrator's query, from all servers if it is about all of them.
  func inspect(_ query: InspectionQuery) async throws(CallError) -> Value {
    guard let cluster else { return try await sessionServer.inspect(query) }
    switch query {
    case .sessions(let after, let limit):
      return await allSessions(after: after, limit: limit, cluster)
    case .session(let id, let withRecords):
      let query = SessionDetailQuery(session: id, withRecords: withRecords)
      return try await send(query, toServerOf: id)
    case .explain(let uri, let params, let caller) where !caller.session.isEmpty:
      let query = ExplanationQuery(uri: uri, params: params, caller: PeerClientCaller(caller))
      return try await send(query, toServerOf: caller.session)
    case .cluster: return await clusterInfo(cluster)
    case .explain, .routes, .rejections, .versions: return try await sessionServer.inspect(query)
    }
  }

  private func allSessions(
    after: String?, limit: Int, _ cluster: ClusterNode
  ) async -> Value {
    async let others = sendToOthers(SummariesQuery(after: after, limit: limit))
    let localResult = await sessionServer.sessions(after: after, limit: limit)
    var results = [(server: cluster.server, value: localResult)]
    var silent: [Value] = []
    for other in await others {
      switch other.result {
      case .success(let value): results.append((other.server, value))
      case .failure: silent.append(other.value)
      }
    }
    var total: Int64 = 0
    var summaries: [(id: String, value: Value)] = []
    var isTruncated = false
    for (server, value) in results {
      total += value["total"]?.integer ?? 0
      if value["next"] != nil { isTruncated = true }
      for summary in value["sessions"]?.array ?? [] {
        guard var members = summary.object, let id = members["session"]?.string else { continue }
        members["server"] = .string(server)
        summaries.append((id, .object(members)))
      }
    }
    summaries.sort { $0.id < $1.id }
    var members: ValueObject = [
      "total": .integer(total), "sessions": .array(summaries.prefix(limit).map(\.value)),
    ]
    if !silent.isEmpty { members["silent"] = .array(silent) }
    if isTruncated || summaries.count > limit, let last = summaries.prefix(limit).last {
      members["next"] = .string(last.id)
    }
    return .object(members)
  }

  private func clusterInfo(_ cluster: ClusterNode) async -> Value {
    func info(_ server: String, _ presence: ValueObject) -> Value {
      var members = presence
      members["server"] = .string(server)
      // Of use to servers only.
      for name in ["authentication", "hasPolicy", "keys", "renewal"] {
        members[name] = nil
      }
      return .object(members)
    }
    let own = info(cluster.server, await cluster.presence())
    let others = cluster.others.map { info($0, $1) }
    return [
      "server": .string(cluster.server), "engine": cluster.engine.isReachable ? "reached" : "away",
      "leaseMs": .integer(cluster.remainingLease.milliseconds),
      "takenOver": .integer(Int64(cluster.counts.takenOverForClients.value)),
      "servers": .array([own] + others),
    ]
  }
}

import WayRouting
import WayTransport
import WayValues

/// Runs queries and operations of administrators on all servers of the cluster.
struct InspectionDispatch {
  let clusterDispatch: ClusterDispatch
  private var sessionServer: SessionServer { clusterDispatch.sessionServer }

  /// Applies a policy again that was in force before, on every server.
  func rollBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> ChangeResult {
    let result = try await sessionServer.rollBack(toPolicy: hash, expecting: expected, for: caller)
    guard let cluster = sessionServer.cluster else { return ChangeResult(result, nil) }
    if let reason = cluster.rejectionReason {
      // It is not known which other servers there are.
      return ChangeResult(
        result,
        .failure(
          CallError(
            .unavailable,
            "The policy is in force on this server only; it cannot be shared: \(reason.text)")
        ))
    }
    let responses = await clusterDispatch.requestOthers([
      "ask": "policy", "to": .string(hash), "caller": caller.peerValue(in: caller.session),
    ])
    return ChangeResult(result, .success(responses))
  }

  /// Returns the result of a query, from all servers if it is about all of them.
  func inspect(_ query: InspectionQuery) async throws(CallError) -> Value {
    guard let cluster = sessionServer.cluster else {
      return try await sessionServer.inspect(query)
    }
    switch query {
    case .sessions(let after, let limit):
      return await allSessions(after: after, limit: limit, cluster)
    case .session(let id, let withRecords):
      guard case .server(let server) = try await clusterDispatch.target(of: id) else { break }
      return try await clusterDispatch.request(
        server, ["ask": "session", "session": .string(id), "records": .bool(withRecords)])
    case .explain(let uri, let params, let caller) where !caller.session.isEmpty:
      guard case .server(let server) = try await clusterDispatch.target(of: caller.session) else {
        break
      }
      return try await clusterDispatch.request(
        server,
        [
          "ask": "explain", "uri": .string(uri), "params": .object(params),
          "caller": caller.peerValue(in: caller.session),
        ])
    case .cluster: return await clusterInfo(cluster)
    case .explain, .routes, .rejections, .versions: break
    }
    return try await sessionServer.inspect(query)
  }

  private func allSessions(
    after: String?, limit: Int, _ cluster: ClusterNode
  ) async -> Value {
    var body: ValueObject = ["ask": "briefs", "limit": .integer(Int64(limit))]
    body["after"] = after.map(Value.string)
    async let others = clusterDispatch.requestOthers(body)
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

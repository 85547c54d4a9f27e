import WayNavigation
import WayRouting
import WayTable
import WayValues

/// Applies the revision of the route table that all servers share. Returns the stamp of the table that
/// is in force then. Fails with 2404 if the server has no table that can be changed.
struct UpdateTableOperation: PeerOperation, Codable {
  static let method = "peer.table"
  let revision: UInt64

  var timeout: Duration { .seconds(30) }

  func run(in context: PeerContext) async throws(CallError) -> Value {
    guard let clusterTable = context.server.clusterTable,
      let table = context.server.configuration.sessions.table
    else {
      throw CallError(.noRoute, "This server has no table that can be changed", kind: "noTable")
    }
    try await clusterTable.update(to: revision)
    return await table.stamp.value
  }
}

/// Applies a policy again that was in force before, for an administrator of another server.
struct RollBackPolicyOperation: PeerOperation, Codable {
  static let method = "peer.policy"
  let hash: String
  let caller: PeerClientCaller

  func run(in context: PeerContext) async throws(CallError) -> Value {
    let server = context.server
    var record = AuditRecord(
      client: EventClient(caller.caller), action: "policy.rollback", target: hash,
      cause: "cluster")
    defer { server.auditTrail?.record(record) }
    do throws(CallError) {
      let result = try await server.rollBack(
        toPolicy: hash, expecting: nil, for: caller.caller)
      record.version = hash
      return .object(result)
    } catch {
      record.result = .failed(code: error.code)
      throw error
    }
  }
}

extension SessionDispatch {
  /// Shares the table of this server, which has changed, with all servers. Returns the response of
  /// each, or the reason why the table is in force at this server only; `nil` if there is no cluster.
  /// Fails with 2409 if another server was faster, whose table has replaced this one.
  func shareTable(
    _ stamp: TableStamp
  ) async throws(CallError) -> Result<[PeerResponse<Value>], CallError>? {
    guard let clusterTable = sessionServer.clusterTable else { return nil }
    let isShared: Bool
    do throws(CallError) { isShared = try await clusterTable.share(stamp) } catch {
      return .failure(error)
    }
    guard isShared else {
      throw CallError(
        .conflict,
        "Another server has changed the table at the same time; read it again before the next change",
        kind: "stale")
    }
    return .success(
      await sendToOthers(UpdateTableOperation(revision: await clusterTable.revision)))
  }

  /// Shares each table change of this server, and sends it to the subscribers of `table.changed`, until
  /// the task is cancelled.
  package func publishTableChanges(
    _ changes: some AsyncSequence<LiveTable.Change, Never> & Sendable
  ) async {
    for await change in changes {
      // A change that cannot be shared now is shared with the next presence of another server.
      if change.cause != .cluster { _ = try? await shareTable(change.stamp) }
      await sessionServer.publishTableChange(change)
      await sessionServer.auditRoutes()
    }
  }

  /// Applies a policy again that was in force before, on every server.
  func rollBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> ChangeResult {
    let result = try await sessionServer.rollBack(toPolicy: hash, expecting: expected, for: caller)
    guard let cluster else { return ChangeResult(result, nil) }
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
    let operation = RollBackPolicyOperation(hash: hash, caller: PeerClientCaller(caller))
    return ChangeResult(result, .success(await sendToOthers(operation)))
  }
}

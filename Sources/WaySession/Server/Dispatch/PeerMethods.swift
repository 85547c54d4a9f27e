import WayValues

/// The methods that servers of a cluster call at one another.
enum PeerMethods {
  static let operations: [any PeerOperation.Type] = [
    PushOperation.self, PushResultQuery.self, OpenPagesOperation.self, ClosePageOperation.self,
    HostRequestOperation.self, HostsQuery.self, SessionsQuery.self, SessionListOperation.self,
    GroupOperation.self, ForgetEventsOperation.self, RetainedEventsQuery.self,
    RevokeOperation.self, RevokedClientsOperation.self, CallerQuery.self,
    ClaimDeepLinksOperation.self, UpdateTableOperation.self, RollBackPolicyOperation.self,
    SummariesQuery.self, SessionDetailQuery.self, ExplanationQuery.self, AgentSessionQuery.self,
    BlobClientQuery.self,
  ]

  private static let operationsByMethod = Dictionary(
    uniqueKeysWithValues: operations.map { (UTF8Key($0.method), $0) })

  /// Performs a request of another server. Fails with -32601 for a method that this version does not
  /// have, and with -32602 for params that it cannot read.
  static func perform(
    _ method: String, _ params: Value, in context: PeerContext
  ) async throws(CallError) -> Value {
    guard let operation = operationsByMethod[UTF8Key(method)] else {
      throw CallError(
        .methodNotFound, "This version has no method \(method.quoted) for other servers")
    }
    return try await perform(operation, params, in: context)
  }

  private static func perform<Operation: PeerOperation>(
    _ type: Operation.Type, _ value: Value, in context: PeerContext
  ) async throws(CallError) -> Value {
    let params: Operation.OperationParams
    do { params = try RecordCoder.decode(from: value, "params of \(type.method)") } catch {
      throw .invalidParams("The request of the other server cannot be read: \(error)")
    }
    return RecordCoder.value(of: try await Operation(params, in: context).run(in: context))
  }
}

import WaySession

// Audit records of changes that no client has requested.
extension BridgeServer {
  /// Records that the policy was replaced, or that its file at `path` is invalid.
  func recordPolicyReload(
    of path: String? = nil, cause: String, result: AuditRecord.AuditResult
  ) {
    guard let sessionServer = try? sessionServer() else { return }
    sessionServer.auditTrail?.record(
      AuditRecord(
        action: "policy.reload", target: path, result: result, cause: cause,
        version: sessionServer.policyVersions.current))
  }

  /// Records each change of the keys that verify tokens, until the task is cancelled.
  func recordKeyReloads(
    _ reloads: AsyncStream<FileReload>?, of sessionServer: SessionServer
  ) async {
    guard let reloads, let auditTrail = sessionServer.auditTrail else { return }
    for await reload in reloads { auditTrail.record(AuditRecord(reload)) }
  }
}

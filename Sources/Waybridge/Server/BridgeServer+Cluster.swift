import WaySession

extension BridgeServer {
  /// Reads the file of the cluster's secrets, and uses them from then on. Returns nil if there is none.
  func reloadClusterSecrets() async -> FileReload? {
    guard let cluster = configuration.sessions.cluster,
      let reload = await cluster.engine.reloadSecrets()
    else { return nil }
    let sessionServer = try? sessionServer()
    let counts = sessionServer?.cluster?.counts
    let failure: String?
    switch reload.result {
    case .inForce:
      failure = nil
      configuration.logger?.info("cluster secrets changed", metadata: ["file": "\(reload.path)"])
    case .rejected(let reason):
      failure = reason
      counts?.rejectedSecrets.add()
      configuration.logger?.warning(
        "cluster secrets not changed: their file was rejected",
        metadata: ["file": "\(reload.path)", "reason": "\(reason)"])
    case .notCompared(let reason):
      failure =
        "the secrets could not be compared with those of other servers, because \(reason); "
        + "reload them again"
      counts?.secretComparisonFailures.add()
      configuration.logger?.warning(
        "cluster secrets not changed: they could not be compared with those of other servers",
        metadata: ["file": "\(reload.path)", "reason": "\(reason)"])
    }
    let result = FileReload(.secrets, path: reload.path, rejection: failure)
    sessionServer?.auditTrail?.record(AuditRecord(result))
    return result
  }
}

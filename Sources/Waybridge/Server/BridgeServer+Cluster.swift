import WaySession

extension BridgeServer {
  /// Reads the file of the cluster's secrets, and uses them from then on. Returns nil if there is none.
  func reloadClusterSecrets() async -> FileReload? {
    guard let cluster = configuration.cluster, let reload = await cluster.engine.reloadSecrets()
    else { return nil }
    let result = FileReload(.secrets, path: reload.path, rejection: reload.rejection)
    let sessionServer = try? sessionServer()
    sessionServer?.auditTrail?.record(AuditRecord(result))
    guard let rejection = reload.rejection else {
      configuration.logger?.info("cluster secrets changed", metadata: ["file": "\(reload.path)"])
      return result
    }
    sessionServer?.cluster?.counts.rejectedSecrets.add()
    configuration.logger?.warning(
      "cluster secrets not changed: their file was rejected",
      metadata: ["file": "\(reload.path)", "reason": "\(rejection)"])
    return result
  }
}

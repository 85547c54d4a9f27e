import Synchronization
import WaySession
import WaySockets

extension BridgeServer {
  /// Replaces the policy, also for the calls of connected clients. Connected clients stay
  /// connected, and their hosts stay registered.
  ///
  /// Throws with nothing changed if the policy is invalid. Throws `CallError` 2409 if the policy has
  /// rules and the server's cluster has no secret, and 2503 while the server does not run.
  public func setPolicy(_ policy: Policy) async throws {
    try await apply(policy)
    recordPolicyReload(cause: "code", result: .done)
  }

  private func apply(_ policy: Policy) async throws {
    let compiled = try policy.compiled()
    let access = try configuration.accessRules(for: policy)
    let sessionServer = try sessionServer()
    try await sessionServer.applyPolicy(compiled)
    lifecycle.setAccess(access)
  }

  /// Applies the policy in a file whenever the file changes, until the task is cancelled.
  func watchPolicyFile(_ file: WatchedFile) async {
    var file = file
    let path = file.path
    await file.watch { content in _ = await applyPolicy(content, path) }
  }

  /// Applies the policy that is in a file now.
  func reloadPolicy(from path: String) async -> FileReload {
    var file = WatchedFile(path)
    return await applyPolicy(Result { () throws(FileError) in try file.read() }, path)
  }

  private func applyPolicy(
    _ content: WatchedFile.FileReadResult, _ path: String
  ) async -> FileReload {
    do {
      try await apply(try Policy(try content.get(), from: "The policy \(path)"))
      recordPolicyReload(of: path, cause: "file", result: .done)
      configuration.logger?.info("policy changed", metadata: ["file": "\(path)"])
      return FileReload(.policy, path: path)
    } catch {
      if let versions = try? sessionServer().policyVersions {
        versions.rejections.add(1, ordering: .relaxed)
      }
      recordPolicyReload(of: path, cause: "file", result: .failed(code: nil))
      configuration.logger?.warning(
        "policy not changed: its file is invalid",
        metadata: ["file": "\(path)", "reason": "\(error)"])
      return FileReload(.policy, path: path, rejection: "\(error)")
    }
  }
}

extension BridgeConfiguration {
  /// Reads the policy from its file and returns the file, to be watched from then on; nil without a
  /// file.
  mutating func loadPolicyFile() throws -> WatchedFile? {
    guard let policyFile = sessions.policyFile else { return nil }
    var file = WatchedFile(policyFile)
    sessions.policy = try Policy(try file.read(), from: "The policy \(policyFile)")
    return file
  }
}

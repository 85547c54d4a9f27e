import Synchronization
import WaySession
import WaySockets

extension BridgeServer {
  /// Replaces the policy, also for the calls of connected clients. Connected clients stay
  /// connected, and their hosts stay registered. Throws if the policy is invalid, with nothing
  /// changed, and `CallError` 2503 while the server does not run.
  public func setPolicy(_ policy: Policy) async throws {
    let compiled = try policy.compiled()
    let access = try configuration.accessRules(for: policy)
    let sessionServer = try sessionServer()
    lifecycle.setAccess(access)
    await sessionServer.applyPolicy(compiled)
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
      try await setPolicy(try Policy(try content.get(), from: "The policy \(path)"))
      configuration.logger?.info("policy changed", metadata: ["file": "\(path)"])
      return FileReload(.policy, path: path)
    } catch {
      if let versions = try? sessionServer().policyVersions {
        versions.rejections.add(1, ordering: .relaxed)
      }
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
    guard let policyFile else { return nil }
    var file = WatchedFile(policyFile)
    policy = try Policy(try file.read(), from: "The policy \(policyFile)")
    return file
  }
}

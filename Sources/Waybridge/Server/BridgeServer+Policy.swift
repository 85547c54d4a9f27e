import WaySession
import WaySockets

extension BridgeServer {
  /// From now on another policy holds, for the calls of clients that are there too; who came in
  /// stays, and what they host. Throws what is wrong with it, and then nothing has changed; and
  /// `CallError` 2503 while the server does not run.
  public func follow(_ policy: Policy) async throws {
    let rulebook = try policy.rulebook()
    let access = try configuration.access(by: policy)
    let group = try group()
    slot.setAccess(access)
    await group.follow(rulebook)
  }

  /// Follows what a file says, whenever that changes, until the task is cancelled.
  func follow(_ file: WatchedFile) async {
    var file = file
    let path = file.path
    await file.watch { content in await take(content, path) }
  }

  /// Follows what a file says now.
  func takePolicy(from path: String) async {
    var file = WatchedFile(path)
    await take(Result { () throws(FileFault) in try file.read() }, path)
  }

  private func take(_ content: WatchedFile.Content, _ path: String) async {
    do {
      try await follow(try Policy(try content.get(), from: "The policy \(path)"))
      configuration.logger?.info("policy changed", metadata: ["file": "\(path)"])
    } catch {
      configuration.logger?.warning(
        "policy kept, since its file is wrong",
        metadata: ["file": "\(path)", "reason": "\(error)"])
    }
  }
}

extension BridgeConfiguration {
  /// Takes the policy from its file, which is to be watched from then on; nil where there is none.
  mutating func readPolicy() throws -> WatchedFile? {
    guard let policyFile else { return nil }
    var file = WatchedFile(policyFile)
    policy = try Policy(try file.read(), from: "The policy \(policyFile)")
    return file
  }
}

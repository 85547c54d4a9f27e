import WaySession
import WaySockets

extension BridgeServer {
  /// From now on another policy holds, for the calls of clients that are there too; who came in
  /// stays, and what they host. Throws what is wrong with it, and then nothing has changed; and
  /// `CallError` 2503 while the server does not run.
  public func follow(_ policy: Policy) async throws {
    let rulebook = try policy.rulebook()
    let access = try configuration.access(by: policy)
    let hub = try hub()
    slot.setAccess(access)
    await hub.follow(rulebook)
  }
}

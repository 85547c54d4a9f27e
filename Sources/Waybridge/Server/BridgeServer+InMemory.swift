import WaySession
import WayTransport

// A server whose clients are in the same process.
extension BridgeServer {
  /// Does what ``run()`` does until it listens, without sockets: carries out the router's start,
  /// and has sessions on `loop`, with `now` for a wall clock. Clients are let in by what this
  /// returns, until ``end(_:)``. Throws 2409 while the server runs already, and what the router's
  /// start throws.
  package func begin(
    on loop: any EventLoop, now: @escaping @Sendable () -> Int64
  ) async throws -> LoopSessions {
    try slot.start()
    do {
      try await router.start()
      let log = configuration.logger.map(BridgeLog.init)
      let shared = try configuration.hub(serving: router, log: log, now: now)
      let group = SessionServer(shared)
      let hub = LoopSessions(loop: loop, in: group)
      await open(to: group)
      return hub
    } catch {
      slot.ended()
      throw error
    }
  }

  /// Ends what ``begin(on:now:)`` has begun; the connections are the caller's to close first.
  package func end(_ hub: LoopSessions) async {
    await hub.group.endListening()
    slot.ended()
  }
}

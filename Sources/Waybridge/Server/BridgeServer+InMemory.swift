import WaySession
import WayTransport

// A server whose clients are in the same process.
extension BridgeServer {
  /// Starts as ``run()`` does, but without sockets: runs the router's start handlers, and has
  /// sessions on `loop`, with `now` as the wall clock. Clients connect to the returned sessions,
  /// until ``stopInMemory(_:)``. Throws 2409 if the server already runs, and the errors of the
  /// router's start.
  package func startInMemory(
    on loop: any EventLoop, now: @escaping @Sendable () -> Int64
  ) async throws -> LoopSessions {
    try lifecycle.start()
    do {
      try await router.start()
      let log = configuration.logger.map(BridgeLog.init)
      var shared = try configuration.sessionServerConfiguration(for: router, log: log, now: now)
      shared.eventSink.awayPush = configuration.onAwayPush.map(AwayPushQueue.init)?.add
      let sessionServer = SessionServer(shared)
      let loopSessions = sessionServer.dispatch.makeLoopSessions(on: loop)
      await activate(with: sessionServer)
      return loopSessions
    } catch {
      lifecycle.stop()
      throw error
    }
  }

  /// Ends a server that ``startInMemory(on:now:)`` has started. The caller closes the connections
  /// first.
  package func stopInMemory(_ loopSessions: LoopSessions) async {
    await loopSessions.sessionServer.closeEventStreams()
    lifecycle.stop()
  }
}

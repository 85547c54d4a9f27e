import WayRouting
import WayTransport

// The end of a server.
extension LoopSessions {
  /// How many sessions are handed over at once, so that not all clients reconnect at the same time.
  private static let maxReleased = 256
  /// Nanoseconds that the store may take for the last changes.
  private static let releaseTimeout: UInt64 = 5_000_000_000

  /// Starts the shutdown: rejects new sessions, tasks and pages, and notifies every client. Running
  /// calls may end within `time`. Returns when they have ended, or the time has passed.
  func drain(for time: Duration) async {
    isDraining = true
    guard time > .zero else { return }
    let deadline = await beginDraining(for: time) { _ in true }
    while loop.nanoseconds < deadline, await containsSession(where: Self.hasUnfinishedCalls) {
      await waitForCalls()
    }
  }

  /// Notifies the clients of the sessions that fulfil a condition; returns the deadline by the
  /// loop's clock.
  private func beginDraining(
    for time: Duration, where condition: (Session) -> Bool
  ) async -> UInt64 {
    let until = configuration.now() + time.milliseconds
    let deadline = loop.nanoseconds &+ UInt64(max(time.milliseconds, 0)) * 1_000_000
    await forEachSession(.send) { session in
      guard condition(session) else { return }
      session.assumeIsolated { $0.beginDraining(until: until) }
    }
    return deadline
  }

  private static func hasUnfinishedCalls(_ session: Session) -> Bool {
    session.assumeIsolated { $0.hasUnfinishedCalls }
  }

  /// Waits for a moment in which calls may end.
  private func waitForCalls() async {
    await withCheckedContinuation { continuation in
      _ = loop.schedule(after: .milliseconds(20)) { continuation.resume() }
    }
  }

  /// Starts the shutdown if other servers take over the sessions. Each session is handed over when
  /// its running calls have ended, at the latest when `time` has passed. Returns when all are
  /// handed over, or the store has not written the last changes within some seconds. Clients of
  /// sessions that cannot be handed over are notified, and may end their calls, as without other
  /// servers.
  func handOver(for time: Duration) async {
    isDraining = true
    await forEachSession(.send) { session in
      guard session.isDurable else { return }
      session.assumeIsolated { $0.beginHandover() }
    }
    let deadline = await beginDraining(for: time) { !$0.isDurable }
    while true {
      var isDone = await release(all: loop.nanoseconds >= deadline)
      if isDone, loop.nanoseconds < deadline {
        isDone = await !containsSession { !$0.isDurable && Self.hasUnfinishedCalls($0) }
      }
      if isDone { break }
      await waitForCalls()
    }
    let releaseDeadline = loop.nanoseconds &+ Self.releaseTimeout
    while loop.nanoseconds < releaseDeadline, await containsSession(where: \.isDurable) {
      await waitForCalls()
    }
  }

  /// Hands over the sessions without running calls, or all of them; returns true if all are handed
  /// over.
  private func release(all isLast: Bool) async -> Bool {
    var releasedCount = 0
    var areAllReleased = true
    await forEachSession(.send) { session in
      guard session.isDurable else { return }
      let isReleased = session.assumeIsolated { session in
        if session.state.isReleased { return true }
        guard isLast || releasedCount < Self.maxReleased && session.isReadyForHandover else {
          return false
        }
        if isLast { session.endCalls() }
        session.release()
        releasedCount += 1
        return true
      }
      if !isReleased { areAllReleased = false }
    }
    return areAllReleased
  }

  /// Ends the sessions: every call in flight is answered with -32802, and none begins to wait.
  func drain() async {
    isDraining = true
    await forEachSession(.send) { session in
      session.assumeIsolated { $0.endCalls() }
    }
  }
}

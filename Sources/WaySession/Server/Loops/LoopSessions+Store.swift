import WayRPC
import WayTransport

extension LoopSessions {
  /// Restores a stored session.
  func restore(_ stored: StoredSession) {
    guard let writer else { return }
    if let reason = stored.unreadableReason {
      return configuration.eventSink.emit(stored.id, .unreadable(reason: reason), nil)
    }
    do {
      let session = try SessionSnapshotReader.session(stored, in: self, writer)
      guard session.assumeIsolated({ !$0.clients.isEmpty }) else {
        return session.assumeIsolated { $0.end() }
      }
      add(session)
      if isFenced { session.assumeIsolated { SessionResumption.pauseTimers(in: $0) } }
      configuration.eventSink.emit(stored.id, .restored, nil)
      session.assumeIsolated { $0.openDeepLinks() }
    } catch {
      sessionServer.unreadableSessions.withLock { _ = $0.insert(stored.id) }
      configuration.eventSink.emit(stored.id, .unreadable(reason: "\(error)"), nil)
    }
  }

  /// Passes all remaining changes to the store.
  func flushStore() async {
    await writer?.flush()
  }

  /// Waits until the store has written all changes.
  func waitUntilStoreIdle() async {
    await writer?.waitUntilIdle()
  }
}

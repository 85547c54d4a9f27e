import WayRPC
import WayTransport
import WayValues

extension LoopSessions {
  /// Restores a stored session.
  func restore(_ stored: StoredSession) {
    guard let writer else { return }
    if let reason = stored.unreadableReason {
      return configuration.eventSink.emit(stored.id, .unreadable(reason: reason), nil)
    }
    do {
      let session = try makeSession(from: stored, writer)
      guard session.assumeIsolated({ !$0.clients.isEmpty }) else {
        return session.assumeIsolated { $0.end() }
      }
      add(session)
      if isFenced { session.assumeIsolated { $0.pauseResumeTimers() } }
      configuration.eventSink.emit(stored.id, .restored, nil)
      session.assumeIsolated { $0.openDeepLinks() }
    } catch {
      sessionServer.unreadableSessions.withLock { _ = $0.insert(stored.id) }
      configuration.eventSink.emit(stored.id, .unreadable(reason: "\(error)"), nil)
    }
  }

  /// Restores a session, which is not yet added here. Fails if a part is damaged.
  private func makeSession(
    from stored: StoredSession, _ writer: SessionStoreWriter
  ) throws(RecordDecodingError) -> Session {
    let snapshot = try SessionSnapshot(stored.parts)
    let identity = snapshot.session.identity.identity
    let journal = SessionJournal(of: stored.id, stored.lease, writer)
    let session = Session(
      id: stored.id, identity, environment, journal,
      restored: (
        snapshot.session.joinToken, snapshot.session.epoch, snapshot.session.openedAt ?? 0
      ),
      userSlot: sessionServer.userQuotas.restoredSession(of: identity.user))
    let dispatcher = dispatcher
    do {
      try session.onLoop { session throws(RecordDecodingError) in
        let clients = try session.restore(
          snapshot, term: stored.lease.term, isComplete: stored.isComplete)
        for client in clients { dispatcher.resumeCalls(of: client, in: session) }
        session.endUnhostedPages()
      }
    } catch {
      journal.abandon()
      throw error
    }
    return session
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

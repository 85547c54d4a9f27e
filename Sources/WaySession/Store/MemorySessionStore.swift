import WayValues

/// A session store in memory that follows the same rules as one on a disk. For tests, which can
/// make it fail and wait.
package actor MemorySessionStore: SessionStore {
  private struct InMemorySession {
    var lease: SessionLease
    var parts = SessionParts()
    var isReleased = false
  }

  private struct PendingAppend {
    let changes: [SessionChange]
    let continuation: CheckedContinuation<Void, any Error>
  }

  /// The ids in the order in which the sessions began.
  private var ids: [UTF8Key] = []
  private var stored: [UTF8Key: InMemorySession] = [:]
  private var isPaused = false
  private var pendingAppends: [PendingAppend] = []
  private var pendingAppendWaiters: [CheckedContinuation<Void, Never>] = []

  /// The error that ``append(_:)`` throws instead of storing; nil if it works.
  package var failure: (any Error)?

  package init() {}

  /// Sets ``failure``.
  package func fail(with failure: (any Error)?) {
    self.failure = failure
  }

  /// Makes calls of ``append(_:)`` wait from now on.
  package func pause() {
    isPaused = true
  }

  /// Performs the waiting calls, in order; further calls do not wait.
  package func resume() {
    isPaused = false
    for waiting in pendingAppends {
      waiting.continuation.resume(with: Result { try apply(waiting.changes) })
    }
    pendingAppends = []
  }

  /// Returns when a call of ``append(_:)`` waits.
  package func waitForPendingAppend() async {
    guard pendingAppends.isEmpty else { return }
    await withCheckedContinuation { pendingAppendWaiters.append($0) }
  }

  /// The stored sessions, in the order in which they began.
  package var sessions: [StoredSession] {
    ids.compactMap { id in
      stored[id].map {
        StoredSession(
          id: id.text, lease: $0.lease, parts: $0.parts.all, isComplete: $0.isReleased)
      }
    }
  }

  package func load(as owner: String) -> [StoredSession] {
    for (id, session) in stored {
      stored[id]?.lease = SessionLease(owner: owner, term: session.lease.term + 1)
    }
    let loaded = sessions
    for id in ids { stored[id]?.isReleased = false }
    return loaded
  }

  @discardableResult
  package func append(_ changes: [SessionChange]) async throws -> Set<String> {
    if isPaused {
      try await withCheckedThrowingContinuation { ended in
        pendingAppends.append(PendingAppend(changes: changes, continuation: ended))
        for continuation in pendingAppendWaiters { continuation.resume() }
        pendingAppendWaiters = []
      }
    } else {
      try apply(changes)
    }
    return []
  }

  package func close() {}

  private func apply(_ changes: [SessionChange]) throws {
    if let failure { throw failure }
    let (ids, saved) = (ids, stored)
    do {
      for change in changes { try apply(change) }
    } catch {
      (self.ids, self.stored) = (ids, saved)
      throw error
    }
  }

  private func apply(_ change: SessionChange) throws(SessionStoreError) {
    let id = UTF8Key(change.session)
    if let session = stored[id], session.lease != change.lease {
      throw .leaseLost(sessions: [change.session])
    }
    if change.isEnd {
      stored[id] = nil
      ids.removeAll { $0 == id }
      return
    }
    if stored[id] == nil { ids.append(id) }
    var session = stored.removeValue(forKey: id) ?? InMemorySession(lease: change.lease)
    for step in change.steps { session.parts.apply(step) }
    session.isReleased = change.isRelease
    stored[id] = session
  }
}

import WayValues

/// Keeps sessions for as long as it is there, by the same rules as one on a disk: for tests, which
/// may have it fail and wait.
package actor MemorySessionStore: SessionStore {
  private struct Kept {
    var lease: SessionLease
    var parts = SessionParts()
    var isReleased = false
  }

  private struct Held {
    let changes: [SessionChange]
    let ended: CheckedContinuation<Void, any Error>
  }

  /// In the order in which they began.
  private var ids: [UTF8Key] = []
  private var kept: [UTF8Key: Kept] = [:]
  private var isHeld = false
  private var held: [Held] = []
  private var awaitingHeld: [CheckedContinuation<Void, Never>] = []

  /// What ``append(_:)`` throws from now on, in the place of keeping anything; nil where it works.
  package var failure: (any Error)?

  package init() {}

  /// Sets ``failure``.
  package func fail(with failure: (any Error)?) {
    self.failure = failure
  }

  /// What comes to ``append(_:)`` waits from now on.
  package func hold() {
    isHeld = true
  }

  /// Does what has waited, in its order, and lets nothing wait any more.
  package func release() {
    isHeld = false
    for waiting in held {
      waiting.ended.resume(with: Result { try make(waiting.changes) })
    }
    held = []
  }

  /// Returns when something waits in ``append(_:)``.
  package func awaitHeld() async {
    guard held.isEmpty else { return }
    await withCheckedContinuation { awaitingHeld.append($0) }
  }

  /// What is kept, in the order in which the sessions began.
  package var sessions: [StoredSession] {
    ids.compactMap { id in
      kept[id].map {
        StoredSession(
          id: id.text, lease: $0.lease, parts: $0.parts.all, isComplete: $0.isReleased)
      }
    }
  }

  package func load(as owner: String) -> [StoredSession] {
    for (id, session) in kept {
      kept[id]?.lease = SessionLease(owner: owner, term: session.lease.term + 1)
    }
    let loaded = sessions
    for id in ids { kept[id]?.isReleased = false }
    return loaded
  }

  @discardableResult
  package func append(_ changes: [SessionChange]) async throws -> Set<String> {
    if isHeld {
      try await withCheckedThrowingContinuation { ended in
        held.append(Held(changes: changes, ended: ended))
        for continuation in awaitingHeld { continuation.resume() }
        awaitingHeld = []
      }
    } else {
      try make(changes)
    }
    return []
  }

  package func close() {}

  private func make(_ changes: [SessionChange]) throws {
    if let failure { throw failure }
    let (ids, kept) = (ids, kept)
    do {
      for change in changes { try make(change) }
    } catch {
      (self.ids, self.kept) = (ids, kept)
      throw error
    }
  }

  private func make(_ change: SessionChange) throws(SessionStoreError) {
    let id = UTF8Key(change.session)
    if let session = kept[id], session.lease != change.lease {
      throw .leaseLost(sessions: [change.session])
    }
    if change.isEnd {
      kept[id] = nil
      ids.removeAll { $0 == id }
      return
    }
    if kept[id] == nil { ids.append(id) }
    var session = kept.removeValue(forKey: id) ?? Kept(lease: change.lease)
    for step in change.steps { session.parts.make(step) }
    session.isReleased = change.isRelease
    kept[id] = session
  }
}

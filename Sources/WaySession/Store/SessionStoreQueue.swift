/// Passes the changes of all loops to the store, one call at a time. Changes that arrive during a
/// write go into the next one together.
actor SessionStoreQueue {
  /// The result of changes that the store has accepted.
  struct AppendResult {
    /// The sessions whose next change must contain everything.
    var snapshotRequests: Set<String> = []
    /// The sessions that another server has taken over; none of their changes were stored.
    var lostSessions: Set<String> = []

    /// Whether there is nothing to report.
    var isEmpty: Bool { snapshotRequests.isEmpty && lostSessions.isEmpty }
  }

  private typealias QueuedChanges = (
    changes: [SessionChange], done: CheckedContinuation<Result<AppendResult, any Error>, Never>
  )

  /// The name of the owner in the store's leases: this run of the server.
  nonisolated let owner: String
  private let store: any SessionStore
  /// Whether other servers may take stored sessions over. Messages then depend on stored changes
  /// only.
  nonisolated let isShared: Bool
  private var queue: [QueuedChanges] = []
  private var isWriting = false
  /// Sessions that another server has taken over, if their writers do not know yet. The store
  /// failed to store the changes that were written together with theirs.
  private var lostSessions: Set<String> = []

  init(_ store: any SessionStore, owner: String) {
    self.store = store
    self.owner = owner
    isShared = store is any SharedSessionStore
  }

  /// See ``SessionStore/load(as:)``.
  func load() async throws -> [StoredSession] { try await store.load(as: owner) }

  /// See ``SharedSessionStore/takeOver(_:)``; does nothing if the store is not shared.
  func takeOver(_ session: String) async throws -> StoredSession? {
    try await (store as? any SharedSessionStore)?.takeOver(session)
  }

  /// See ``SharedSessionStore/takeOverAll(_:)``; does nothing if the store is not shared.
  func takeOverAll(_ adopt: @Sendable (StoredSession) async -> Void) async throws -> Set<String> {
    try await (store as? any SharedSessionStore)?.takeOverAll(adopt) ?? []
  }

  /// See ``SessionStore/append(_:)``. If the lease of some sessions is lost, the changes of the
  /// others are stored all the same. A failure fails all calls whose changes were written together.
  func append(_ changes: [SessionChange]) async throws -> AppendResult {
    try await withCheckedContinuation { done in
      queue.append((changes, done))
      if !isWriting { Task { await write() } }
      isWriting = true
    }.get()
  }

  private func write() async {
    while !queue.isEmpty {
      let batch = queue
      queue = []
      let result: Result<AppendResult, any Error>
      do { result = .success(try await write(batch.flatMap(\.changes))) } catch {
        result = .failure(error)
      }
      for (_, done) in batch { done.resume(returning: result) }
    }
    isWriting = false
  }

  private func write(_ changes: [SessionChange]) async throws -> AppendResult {
    var outcome = AppendResult(lostSessions: lostSessions.intersection(changes.lazy.map(\.session)))
    var changes = changes.filter { !outcome.lostSessions.contains($0.session) }
    while true {
      do {
        outcome.snapshotRequests = try await store.append(changes)
        lostSessions.subtract(outcome.lostSessions)
        return outcome
      } catch SessionStoreError.leaseLost(let sessions)
        where !sessions.isSubset(of: outcome.lostSessions)
      {
        outcome.lostSessions.formUnion(sessions)
        lostSessions.formUnion(sessions)
        // Changes of the other sessions that are stored already have the same effect when repeated.
        changes.removeAll { outcome.lostSessions.contains($0.session) }
      }
    }
  }

  /// See ``SessionStore/close()``.
  func close() async { await store.close() }
}

/// Hands the changes of all loops to the store, one call at a time: what comes while it writes goes
/// together with the next.
actor StoreQueue {
  /// What has become of changes that the store has taken.
  struct Outcome {
    /// The sessions that it wants to be handed as a whole with their next change.
    var wanted: Set<String> = []
    /// Those that another server has taken over, of which nothing was kept.
    var lost: Set<String> = []

    /// Whether that is all.
    var isPlain: Bool { wanted.isEmpty && lost.isEmpty }
  }

  private typealias Waiting = (
    changes: [SessionChange], done: CheckedContinuation<Result<Outcome, any Error>, Never>
  )

  /// Who the store's leases name: this life of the server.
  nonisolated let owner: String
  private let store: any SessionStore
  /// Whether other servers may take over what is kept, so that nothing may go out which is not.
  nonisolated let isShared: Bool
  private var waiting: [Waiting] = []
  private var isWriting = false
  /// Those that another server has taken over, where who wrote them was not told: the store has failed
  /// to keep what came with them.
  private var lost: Set<String> = []

  init(_ store: any SessionStore, owner: String) {
    self.store = store
    self.owner = owner
    isShared = store is any SharedSessionStore
  }

  /// As ``SessionStore/load(as:)``.
  func load() async throws -> [StoredSession] { try await store.load(as: owner) }

  /// As ``SharedSessionStore/take(_:)``; nothing where the store is not shared.
  func take(_ session: String) async throws -> StoredSession? {
    try await (store as? any SharedSessionStore)?.take(session)
  }

  /// As ``SharedSessionStore/takeAll(_:)``; nothing where the store is not shared.
  func takeAll(_ taken: @Sendable (StoredSession) async -> Void) async throws -> Set<String> {
    try await (store as? any SharedSessionStore)?.takeAll(taken) ?? []
  }

  /// As ``SessionStore/append(_:)``, but for sessions whose lease is lost, without which the others
  /// are kept. What fails fails for all whose changes went together.
  func append(_ changes: [SessionChange]) async throws -> Outcome {
    try await withCheckedContinuation { done in
      waiting.append((changes, done))
      if !isWriting { Task { await write() } }
      isWriting = true
    }.get()
  }

  private func write() async {
    while !waiting.isEmpty {
      let taken = waiting
      waiting = []
      let result: Result<Outcome, any Error>
      do { result = .success(try await write(taken.flatMap(\.changes))) } catch {
        result = .failure(error)
      }
      for (_, done) in taken { done.resume(returning: result) }
    }
    isWriting = false
  }

  private func write(_ changes: [SessionChange]) async throws -> Outcome {
    var outcome = Outcome(lost: lost.intersection(changes.lazy.map(\.session)))
    var changes = changes.filter { !outcome.lost.contains($0.session) }
    while true {
      do {
        outcome.wanted = try await store.append(changes)
        lost.subtract(outcome.lost)
        return outcome
      } catch SessionStoreError.leaseLost(let sessions) where !sessions.isSubset(of: outcome.lost) {
        outcome.lost.formUnion(sessions)
        lost.formUnion(sessions)
        // What of the others is kept already is the same once more.
        changes.removeAll { outcome.lost.contains($0.session) }
      }
    }
  }

  /// As ``SessionStore/close()``.
  func close() async { await store.close() }
}

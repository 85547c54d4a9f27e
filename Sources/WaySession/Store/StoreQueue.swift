/// Hands the changes of all loops to the store, one call at a time: what comes while it writes goes
/// together with the next.
actor StoreQueue {
  private typealias Waiting = (
    changes: [SessionChange], done: CheckedContinuation<Result<Void, any Error>, Never>
  )

  /// Who the store's leases name: this life of the server.
  nonisolated let owner: String
  private let store: any SessionStore
  private var waiting: [Waiting] = []
  private var isWriting = false

  init(_ store: any SessionStore, owner: String) {
    self.store = store
    self.owner = owner
  }

  /// As ``SessionStore/load(as:)``.
  func load() async throws -> [StoredSession] { try await store.load(as: owner) }

  /// As ``SessionStore/append(_:)``. What fails fails for all whose changes went together.
  func append(_ changes: [SessionChange]) async throws {
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
      let result: Result<Void, any Error>
      do { result = .success(try await store.append(taken.flatMap(\.changes))) } catch {
        result = .failure(error)
      }
      for (_, done) in taken { done.resume(returning: result) }
    }
    isWriting = false
  }

  /// As ``SessionStore/close()``.
  func close() async { await store.close() }
}

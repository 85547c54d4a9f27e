import Testing
import WayTransport

@testable import WaySession

struct StoreQueueTests {
  /// Fails with these, one after another, then keeps what it is handed.
  private struct FailingStore: SharedSessionStore {
    let failures: Locked<[any Error]>
    let kept = Locked<[String]>([])

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) throws -> Set<String> {
      let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let failure { throw failure }
      kept.withLock { $0 += changes.map(\.session) }
      return []
    }
    func close() {}
    func take(_ session: String) -> StoredSession? { nil }
    func takeAll(_ taken: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  private struct InjectedStoreError: Error {}

  private let store: FailingStore
  private let queue: StoreQueue

  init() {
    store = FailingStore(
      failures: Locked([SessionStoreError.leaseLost(sessions: ["x"]), InjectedStoreError()]))
    queue = StoreQueue(store, owner: "a")
  }

  private func append(_ sessions: String...) async throws -> Set<String> {
    try await queue.append(
      sessions.map {
        SessionChange(session: $0, lease: SessionLease(owner: "a", term: 1), steps: [])
      }
    ).lost
  }

  /// Else it would be written as a new one, in the place of what its next owner has.
  @Test func whoHasLostASessionIsToldAlsoWhereTheRestFails() async throws {
    await #expect(throws: InjectedStoreError.self) { try await append("x", "y") }
    #expect(try await append("y") == [])
    #expect(try await append("x", "y") == ["x"])
    #expect(store.kept.withLock { $0 } == ["y", "y"])
    // It is told once: another may begin under the same id.
    #expect(try await append("x") == [])
    #expect(store.kept.withLock { $0 } == ["y", "y", "x"])
  }
}

import Testing
import WayTransport

@testable import WaySession

struct StoreQueueTests {
  /// A store that fails with these errors, one after another, then saves its changes.
  private struct FailingStore: SharedSessionStore {
    let failures: Locked<[any Error]>
    let storedSessions = Locked<[String]>([])

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) throws -> Set<String> {
      let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let failure { throw failure }
      storedSessions.withLock { $0 += changes.map(\.session) }
      return []
    }
    func close() {}
    func takeOver(_ session: String) -> StoredSession? { nil }
    func takeOverAll(_ body: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  private struct InjectedStoreError: Error {}

  private let store: FailingStore
  private let queue: SessionStoreQueue

  init() {
    store = FailingStore(
      failures: Locked([SessionStoreError.leaseLost(sessions: ["x"]), InjectedStoreError()]))
    queue = SessionStoreQueue(store, owner: "a")
  }

  private func append(_ sessions: String...) async throws -> Set<String> {
    try await queue.append(
      sessions.map {
        SessionChange(session: $0, lease: SessionLease(owner: "a", term: 1), steps: [])
      }
    ).lostSessions
  }

  /// Otherwise the session would be written as a new one and overwrite its next owner's state.
  @Test func reportsLostLeaseDespiteOtherFailure() async throws {
    await #expect(throws: InjectedStoreError.self) { try await append("x", "y") }
    #expect(try await append("y") == [])
    #expect(try await append("x", "y") == ["x"])
    #expect(store.storedSessions.withLock { $0 } == ["y", "y"])
    // The loss is reported once: another session may start with the same id.
    #expect(try await append("x") == [])
    #expect(store.storedSessions.withLock { $0 } == ["y", "y", "x"])
  }
}

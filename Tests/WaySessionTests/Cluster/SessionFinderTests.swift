import TestSupport
import Testing
import WayRouting
import WayTransport

@testable import WaySession

/// Lookup of the server that has a session.
@Suite(.timeLimit(.minutes(1)))
struct SessionFinderTests {
  /// A store that cannot be read, and counts the attempts.
  private actor UnreadableSessionStore: SharedSessionStore {
    struct UnreadableStoreError: Error {}
    private(set) var readCount = 0

    func takeOver(_ session: String) throws -> StoredSession? {
      readCount += 1
      throw UnreadableStoreError()
    }

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) -> Set<String> { [] }
    func close() {}
    func takeOverAll(_ body: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  @Test func sharesOneFailedLookup() async throws {
    let store = UnreadableSessionStore()
    let bridge = InMemoryBridge(
      Router(), cluster: Cluster(StubClusterEngine(store, owner: .unowned)))
    try await bridge.sessionServer.dispatch.restore()
    let finder = try #require(bridge.sessionServer.cluster?.finder)
    let start = ContinuousClock.now
    await withTaskGroup(of: SessionFinder.SessionLocation.self) { tasks in
      for _ in 1...20 { tasks.addTask { await finder.find("s", for: bridge.server.loop) } }
      for await place in tasks {
        guard case .unknown(let reason) = place else {
          Issue.record("\(place)")
          continue
        }
        #expect(reason == "\(UnreadableSessionStore.UnreadableStoreError())")
      }
    }
    #expect(await store.readCount == 1)
    #expect(ContinuousClock.now - start >= SessionFinder.failureBackoff)
  }
}

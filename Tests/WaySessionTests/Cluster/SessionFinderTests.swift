import TestSupport
import Testing
import WayRouting
import WayTransport

@testable import WaySession

/// Where a session is found that is not here.
@Suite(.timeLimit(.minutes(1)))
struct SessionFinderTests {
  /// Cannot be read, and counts how often it was to be.
  private actor Unreadable: SharedSessionStore {
    struct Failure: Error {}
    private(set) var takes = 0

    func take(_ session: String) throws -> StoredSession? {
      takes += 1
      throw Failure()
    }

    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) -> Set<String> { [] }
    func close() {}
    func takeAll(_ taken: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }

  @Test func anEngineInTroubleIsNotAskedByEachWhoComes() async throws {
    let store = Unreadable()
    let bridge = InMemoryBridge(
      Router(), cluster: Cluster(StubClusterEngine(store, owner: .nobody)))
    try await bridge.hub.restore()
    let finder = try #require(bridge.hub.cluster?.finder)
    let begun = ContinuousClock.now
    await withTaskGroup(of: SessionFinder.Place.self) { tasks in
      for _ in 1...20 { tasks.addTask { await finder.find("s", for: bridge.server.loop) } }
      for await place in tasks {
        guard case .unknown(let reason) = place else {
          Issue.record("\(place)")
          continue
        }
        #expect(reason == "\(Unreadable.Failure())")
      }
    }
    #expect(await store.takes == 1)
    #expect(ContinuousClock.now - begun >= SessionFinder.rest)
  }
}

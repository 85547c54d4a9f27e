import Synchronization
import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// A server whose settings differ from those of other servers of its cluster.
@Suite(.timeLimit(.minutes(1)))
struct ClusterConflictTests {
  private let engine = StubClusterEngine()
  private let bridge: InMemoryBridge
  private var cluster: ClusterNode? { bridge.sessionServer.cluster }

  init() async throws {
    bridge = InMemoryBridge(Router(), cluster: Cluster(engine))
    try await bridge.sessionServer.restore()
  }

  /// Receives the presence of another server. This server authenticates no clients, and has joined
  /// at place 5.
  private func receive(
    from server: String, joined: Int64, _ authentication: ClusterAnnouncement.ClientAuthentication
  ) {
    var presence = ClusterAnnouncement(authentication: authentication, host: "machine").members
    presence["joined"] = .integer(joined)
    presence["renewal"] = 9
    engine.receive(.presence(.object(presence)), from: server)
  }

  private func tick() async throws { try await bridge.server.advance(by: .seconds(1)) }

  private func rejects() async -> Bool { await bridge.loopSessions.rejectionReason != nil }

  /// Waits until connections are rejected, or are accepted again.
  private func wait(untilRejecting isRejecting: Bool) async throws {
    while await rejects() != isRejecting {
      try await bridge.server.advance(by: .milliseconds(100))
      await Task.yield()
    }
  }

  @Test func laterServerStopsServing() async throws {
    _ = try await SequencedClient(bridge)
    engine.conflict.withLock { $0 = ClusterConflict(reason: "they differ", advice: "stop") }
    receive(from: "b", joined: 4, .required)
    try await tick()
    try await wait(untilRejecting: true)
    while engine.withdrawalCount.load(ordering: .relaxed) == 0 { await Task.yield() }
    #expect(cluster?.conflict != nil)
    // It receives no messages of the others until it joins again.
    while cluster?.others.isEmpty == false { await Task.yield() }
    receive(from: "c", joined: 4, .required)
    #expect(cluster?.others.isEmpty == true)
    engine.conflict.withLock { $0 = nil }
    try await wait(untilRejecting: false)
    #expect(cluster?.conflict == nil && engine.withdrawalCount.load(ordering: .relaxed) == 1)
    receive(from: "c", joined: 6, .none)
    #expect(cluster?.others.map(\.server) == ["c"])
  }

  @Test func earlierServerContinues() async throws {
    receive(from: "b", joined: 6, .required)
    try await tick()
    #expect(cluster?.conflict == nil && engine.withdrawalCount.load(ordering: .relaxed) == 0)
    #expect(await !rejects())
  }

  /// A server that returns is compared with the others before it serves again.
  @Test func serverThatWasDeclaredDownIsCompared() async throws {
    let conflict = ClusterConflict(reason: "they differ", advice: "stop")
    engine.conflict.withLock { $0 = conflict }
    engine.declareDown()
    while cluster?.conflict != conflict { await Task.yield() }
    #expect(await rejects())
    engine.conflict.withLock { $0 = nil }
    try await wait(untilRejecting: false)
    #expect(engine.rejoinCount.load(ordering: .relaxed) == 1)
  }
}

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
  private let conflict = ClusterConflict(reason: "they differ", advice: "stop")
  private var cluster: ClusterNode? { bridge.sessionServer.cluster }

  init() async throws {
    bridge = InMemoryBridge(Router(), cluster: Cluster(engine))
    try await bridge.sessionServer.dispatch.restore()
  }

  /// Receives the presence of another server.
  private func receivePresence(of server: String) {
    engine.receive(
      .presence(.object(ClusterAnnouncement(host: "machine").members)), from: server)
  }

  private func rejectionReason() async -> String? { await bridge.loopSessions.rejectionReason }

  /// Waits until connections are rejected, or until they are accepted again and the server has ended
  /// its return to the cluster, which takes a moment longer.
  private func wait(untilRejecting isRejecting: Bool) async throws {
    while await (rejectionReason() != nil) != isRejecting
      || (!isRejecting && cluster?.rejectionReason != nil)
    {
      try await bridge.server.advance(by: .milliseconds(100))
      await Task.yield()
    }
  }

  /// How often the server has told the others that it has left.
  private var leftCount: Int {
    engine.sentMessages.withLock { messages in
      messages.count {
        guard case .presence(let presence)? = try? ClusterEnvelope($0.bytes).message else {
          return false
        }
        return presence["left"] == true
      }
    }
  }

  @Test func serverWithAConflictStopsServing() async throws {
    _ = try await SequencedClient(bridge)
    receivePresence(of: "b")
    engine.conflict.withLock { $0 = conflict }
    engine.findConflict(conflict)
    try await wait(untilRejecting: true)
    #expect(cluster?.conflict == conflict)
    // It receives no messages of the others until it joins again, and sends them none.
    while cluster?.others.isEmpty == false { await Task.yield() }
    receivePresence(of: "c")
    #expect(cluster?.others.isEmpty == true && leftCount == 1)
    await #expect {
      try await cluster?.request("b", "peer.hosts", [:], within: .seconds(1))
    } throws: { error in
      "\(error)".contains("the settings of this server differ")
    }
    engine.conflict.withLock { $0 = nil }
    try await wait(untilRejecting: false)
    #expect(cluster?.conflict == nil && engine.withdrawalCount.load(ordering: .relaxed) == 1)
    receivePresence(of: "c")
    #expect(cluster?.others.map(\.server) == ["c"])
  }

  /// A server that returns is compared with the others before it serves again. If it may not, all that
  /// is in progress with them ends at once.
  @Test func serverThatWasDeclaredDownIsCompared() async throws {
    receivePresence(of: "b")
    engine.conflict.withLock { $0 = conflict }
    engine.declareDown()
    while cluster?.conflict != conflict { await Task.yield() }
    for _ in 0..<1_000 where cluster?.others.isEmpty == false { await Task.yield() }
    #expect(cluster?.others.isEmpty == true && leftCount == 1)
    #expect(await rejectionReason()?.contains("settings of this server differ") == true)
    engine.conflict.withLock { $0 = nil }
    try await wait(untilRejecting: false)
    #expect(engine.rejoinCount.load(ordering: .relaxed) == 1)
  }

  /// What happens between the return to the cluster and the first knowledge of it is not lost.
  @Test(arguments: [false, true])
  func membershipThatEndsAtOnceIsRenewed(_ isConflict: Bool) async throws {
    engine.afterRejoin.withLock {
      $0 = { [engine, conflict] in
        if isConflict { engine.findConflict(conflict) } else { engine.declareDown() }
      }
    }
    engine.declareDown()
    while engine.rejoinCount.load(ordering: .relaxed) < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    try await wait(untilRejecting: false)
    #expect(engine.rejoinCount.load(ordering: .relaxed) == 2)
    #expect(engine.withdrawalCount.load(ordering: .relaxed) == (isConflict ? 1 : 0))
    #expect(cluster?.conflict == nil)
  }

  /// NATS is named as the cause only if it is one.
  @Test func reasonIsTheCurrentOne() async throws {
    #expect(cluster?.rejectionReason == nil)
    engine.leaseValidity.revoke()
    #expect(cluster?.rejectionReason == .leaseExpired)
    engine.unreachableReason.withLock { $0 = "no response" }
    #expect(cluster?.rejectionReason == .engineUnreachable)
    try await bridge.server.advance(by: .milliseconds(100))
    #expect(await rejectionReason() == "NATS cannot be reached")
    engine.unreachableReason.withLock { $0 = nil }
    engine.conflict.withLock { $0 = conflict }
    engine.findConflict(conflict)
    #expect(cluster?.rejectionReason == .conflict)
    #expect(
      await rejectionReason() == "the settings of this server differ from those of its cluster")
    #expect(bridge.sessionServer.clusterState?.isReachable == true)
    await #expect {
      try await bridge.sessionServer.dispatch.location(of: .all)
    } throws: { error in
      "\(error)".contains("the settings of this server differ")
    }
    engine.conflict.withLock { $0 = nil }
    try await wait(untilRejecting: false)
    #expect(cluster?.rejectionReason == nil)
  }
}

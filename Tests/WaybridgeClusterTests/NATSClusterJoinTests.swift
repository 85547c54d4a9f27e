import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// Servers that join a cluster, or are refused.
@Suite(.timeLimit(.minutes(1)))
struct NATSClusterJoinTests {
  private let natsServer: NATSServer
  /// What has reached the server that was refused first.
  private let received = Locked<[[UInt8]]>([])

  init() throws { natsServer = try NATSServer() }

  private func engine() throws -> any ClusterEngine {
    try Cluster(nats: NATSClusterSettings(url: natsServer.url)).engine
  }

  /// Sends a message to all servers that listen now.
  private func broadcast(_ number: UInt8) throws {
    let messenger = try NATSMessenger(NATSClusterConfiguration(url: natsServer.url))
    messenger.send([number], to: nil)
    messenger.end()
  }

  private func handlers() -> ClusterHandlers {
    ClusterHandlers(
      leaseRenewed: {}, declaredDown: {},
      messageReceived: { [received] message in received.withLock { $0.append(message) } },
      messagesLost: {}, storageOutdated: {})
  }

  @Test func refusedServerReceivesNoMessages() async throws {
    // A server with a secret, which sends no messages.
    let leases = try leases()
    try await leases.join(
      with: NATSLeaseValue(
        server: "one", announcement: ClusterAnnouncement(host: "machine"), secrets: ["a"]))
    await leases.begin(
      ClusterHandlers(
        leaseRenewed: {}, declaredDown: {}, messageReceived: { _ in }, messagesLost: {},
        storageOutdated: {}))
    let other = try engine()
    await #expect(throws: NATSClusterError.self) {
      try await other.join(as: "two", ClusterAnnouncement(), handlers())
    }
    try broadcast(1)
    await leases.leave()
    try await other.join(as: "two", ClusterAnnouncement(), handlers())
    try broadcast(2)
    while received.withLock({ $0.isEmpty }) { await Task.yield() }
    #expect(received.withLock { $0 } == [[2]])
    #expect(try await other.isDown("two") == false)
    await other.leave()
  }

  private func leases() throws -> NATSServerLeases {
    try NATSServerLeases(
      NATSClusterConfiguration(url: natsServer.url),
      leaseValidity: SessionLeaseValidity(suspendedTime: NATSClusterClock.suspendedTime),
      NATSLeaseStatus())
  }
}

import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// Two clusters with different names on one NATS server.
@Suite(.timeLimit(.minutes(1)))
struct NATSClusterSeparationTests {
  private let natsServer: NATSServer
  private let production: any ClusterEngine
  private let development: any ClusterEngine
  /// The messages that each of the two has received.
  private let received = Locked<[String: [[UInt8]]]>([:])

  init() async throws {
    natsServer = try NATSServer()
    production = try Self.engine(of: "production", on: natsServer)
    development = try Self.engine(of: "development", on: natsServer)
    for (name, engine) in [("production", production), ("development", development)] {
      // Both servers have the same name: nothing but the cluster's name separates them.
      try await engine.join(
        as: "one", ClusterAnnouncement(),
        ClusterHandlers(
          leaseRenewed: {}, declaredDown: {},
          messageReceived: { [received] message in
            received.withLock { $0[name, default: []].append(message) }
          }, messagesLost: {}, storageOutdated: {}))
      _ = try await engine.store.load(as: "one")
    }
  }

  private static func engine(
    of cluster: String, on natsServer: NATSServer
  ) throws -> any ClusterEngine {
    var settings = NATSClusterSettings(url: natsServer.url)
    settings.name = cluster
    return try Cluster(nats: settings).engine
  }

  @Test func clusterSeesNoSessionOfAnother() async throws {
    let change = SessionChange(
      session: "s", lease: SessionLease(owner: "one", term: 1),
      steps: [.put(part: "p", bytes: [1])], isRelease: true)
    try await production.store.append([change])
    #expect(try await production.owner(of: "s") == .unowned)
    #expect(try await development.owner(of: "s") == .notFound)
    #expect(try await development.store.takeOver("s") == nil)
    #expect(try await development.store.takeOverAll { _ in }.isEmpty)
    #expect(try await production.store.takeOver("s")?.parts == ["p": [1]])
  }

  @Test func clusterSeesNoDocumentOfAnother() async throws {
    #expect(try await production.put([1], as: "table", after: 0) != nil)
    #expect(try await development.document("table") == nil)
    #expect(try await development.put([2], as: "table", after: 0) != nil)
    #expect(try await production.document("table")?.bytes == [1])
  }

  @Test func clusterReceivesNoMessageOfAnother() async throws {
    // A second server of each, since none receives its own messages.
    for (name, number) in [("production", UInt8(1)), ("development", UInt8(2))] {
      let messenger = try NATSMessenger(NATSClusterConfiguration(url: natsServer.url, name: name))
      messenger.send([number], to: nil)
      messenger.send([number + 10], to: "one")
      messenger.end()
    }
    while received.withLock({ $0.values.reduce(0) { $0 + $1.count } }) < 4 { await Task.yield() }
    #expect(received.withLock { $0["production"]?.sorted { $0[0] < $1[0] } } == [[1], [11]])
    #expect(received.withLock { $0["development"]?.sorted { $0[0] < $1[0] } } == [[2], [12]])
  }

  @Test func serverOfAnotherClusterIsNotDeclaredDown() async throws {
    // The lease of the same server name in the other cluster stays.
    await development.leave()
    #expect(try await production.isDown("one") == false)
  }
}

import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// The stores of two servers on one NATS server.
@Suite(.timeLimit(.minutes(1)))
struct SessionTakeoverTests {
  private let natsServer: NATSServer
  private let servers: [any ClusterEngine]

  init() async throws {
    natsServer = try NATSServer()
    servers = [
      try Cluster(nats: NATSClusterSettings(url: natsServer.url)).engine,
      try Cluster(nats: NATSClusterSettings(url: natsServer.url)).engine,
    ]
    for (name, server) in zip(["one", "other"], servers) {
      try await server.join(
        as: name, ClusterAnnouncement(),
        ClusterHandlers(
          leaseRenewed: {}, declaredDown: {}, messageReceived: { _ in }, messagesLost: {},
          storageOutdated: {}))
      _ = try await server.store.load(as: name)
    }
  }

  private var firstStore: any SharedSessionStore { servers[0].store }
  private var secondStore: any SharedSessionStore { servers[1].store }

  private func change(
    _ session: String, by owner: String, _ value: UInt8 = 1, released: Bool = false
  ) -> SessionChange {
    SessionChange(
      session: session, lease: SessionLease(owner: owner, term: 1),
      steps: [.put(part: "p", bytes: [value])], isRelease: released)
  }

  @Test func writesDoNotWaitForTakeover() async throws {
    let names = (0..<40).map { "s\($0)" }
    try await firstStore.append(names.map { change($0, by: "one", released: true) })
    let takenOver = Locked<[String]>([])
    let owners = try await secondStore.takeOverAll { [secondStore] session in
      takenOver.withLock { $0.append(session.id) }
      // A session that is taken over can be written while others are still taken over.
      let more = SessionChange(
        session: session.id, lease: session.lease, steps: [.put(part: "q", bytes: [2])])
      _ = try? await secondStore.append([more])
    }
    #expect(takenOver.withLock { $0 } == names)
    #expect(owners.isEmpty)
    try await secondStore.append(
      names.map {
        SessionChange(
          session: $0, lease: SessionLease(owner: "other", term: 2), steps: [], isRelease: true)
      })
    let back = try #require(try await firstStore.takeOver("s39"))
    #expect(back.parts == ["p": [1], "q": [2]])
    #expect(back.isComplete)
  }

  @Test func deletesLogsOfEndedSessions() async throws {
    let names = (0..<100).map { "s\($0)" }
    try await firstStore.append(names.map { change($0, by: "one") })
    try await firstStore.append(
      names.map {
        SessionChange(
          session: $0, lease: SessionLease(owner: "one", term: 1), steps: [], isEnd: true)
      })
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    while try !connection.sessionLogs(of: connection.names.allSessions, includesParts: false)
      .isEmpty
    {
      await Task.yield()
    }
  }

  @Test func eachSessionIsTakenOverByOneServer() async throws {
    let names = (0..<200).map { "s\($0)" }
    try await firstStore.append(names.map { change($0, by: "one", released: true) })
    let takenOver = Locked<[String]>([])
    async let first = firstStore.takeOverAll { session in
      takenOver.withLock { $0.append(session.id) }
    }
    async let second = secondStore.takeOverAll { session in
      takenOver.withLock { $0.append(session.id) }
    }
    _ = try await (first, second)
    #expect(takenOver.withLock { $0.sorted() } == names.sorted())
  }
}

import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// Two servers' stores on one engine.
@Suite(.timeLimit(.minutes(1)))
struct SessionTakeoverTests {
  private let engine: NATSServer
  private let servers: [any ClusterEngine]

  init() async throws {
    engine = try NATSServer()
    servers = [try Cluster(nats: engine.url).engine, try Cluster(nats: engine.url).engine]
    for (name, server) in zip(["one", "other"], servers) {
      try await server.join(
        as: name,
        ClusterHandlers(
          renewed: {}, lost: {}, received: { _ in }, cutOff: {}, bereft: {}))
      _ = try await server.store.load(as: name)
    }
  }

  private var one: any SharedSessionStore { servers[0].store }
  private var other: any SharedSessionStore { servers[1].store }

  private func change(
    _ session: String, by owner: String, _ value: UInt8 = 1, released: Bool = false
  ) -> SessionChange {
    SessionChange(
      session: session, lease: SessionLease(owner: owner, term: 1),
      steps: [.put(part: "p", bytes: [value])], isRelease: released)
  }

  @Test func whatIsWrittenDoesNotWaitForWhatIsTakenOver() async throws {
    let names = (0..<40).map { "s\($0)" }
    try await one.append(names.map { change($0, by: "one", released: true) })
    let taken = Locked<[String]>([])
    let owners = try await other.takeAll { [other] session in
      taken.withLock { $0.append(session.id) }
      // One that is handed on can be written while others are taken.
      let more = SessionChange(
        session: session.id, lease: session.lease, steps: [.put(part: "q", bytes: [2])])
      _ = try? await other.append([more])
    }
    #expect(taken.withLock { $0 } == names)
    #expect(owners.isEmpty)
    try await other.append(
      names.map {
        SessionChange(
          session: $0, lease: SessionLease(owner: "other", term: 2), steps: [], isRelease: true)
      })
    let back = try #require(try await one.take("s39"))
    #expect(back.parts == ["p": [1], "q": [2]])
    #expect(back.isComplete)
  }

  @Test func allLogsGoOfSessionsThatAreOver() async throws {
    let names = (0..<100).map { "s\($0)" }
    try await one.append(names.map { change($0, by: "one") })
    try await one.append(
      names.map {
        SessionChange(
          session: $0, lease: SessionLease(owner: "one", term: 1), steps: [], isEnd: true)
      })
    let connection = try NATSConnection(NATSAddress(engine.url))
    while try !connection.logs(of: Subject.all, keepsParts: false).isEmpty { await Task.yield() }
  }

  @Test func oneOfSeveralWhoTakeThemOverHasEach() async throws {
    let names = (0..<200).map { "s\($0)" }
    try await one.append(names.map { change($0, by: "one", released: true) })
    let taken = Locked<[String]>([])
    async let first = one.takeAll { session in taken.withLock { $0.append(session.id) } }
    async let second = other.takeAll { session in taken.withLock { $0.append(session.id) } }
    _ = try await (first, second)
    #expect(taken.withLock { $0.sorted() } == names.sorted())
  }
}

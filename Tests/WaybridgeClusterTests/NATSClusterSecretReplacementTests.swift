import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// Servers on one NATS server, whose secrets differ or are replaced.
@Suite(.timeLimit(.minutes(1)))
struct NATSClusterSecretReplacementTests {
  private let natsServer: NATSServer
  private let folder: TestFolder
  /// The sessions that servers have taken over when they started.
  private let loaded = Locked<[StoredSession]>([])
  /// How often each server was asked to store its sessions again.
  private let requests = Locked<[String: Int]>([:])

  init() throws {
    natsServer = try NATSServer()
    folder = try TestFolder()
  }

  /// Writes the secret file of a server: one secret for each letter.
  private func write(_ letters: String, of server: String) throws {
    let lines = letters.map { String(repeating: $0, count: 32) }
    try folder.write(Array(lines.joined(separator: "\n").utf8), to: server)
  }

  /// A server that has joined; it has no secret without letters.
  private func server(_ name: String, _ letters: String = "") async throws -> any ClusterEngine {
    var settings = NATSClusterSettings(url: natsServer.url)
    if !letters.isEmpty {
      try write(letters, of: name)
      settings.secretFile = folder.path(name)
    }
    let engine = try Cluster(nats: settings).engine
    try await engine.join(
      as: name, ClusterAnnouncement(),
      ClusterHandlers(
        leaseRenewed: {}, declaredDown: {}, messageReceived: { _ in }, messagesLost: {},
        storageOutdated: { [requests] in requests.withLock { $0[name, default: 0] += 1 } }))
    let sessions = try await engine.store.load(as: name)
    loaded.withLock { $0 = sessions }
    return engine
  }

  private func change(
    by owner: String, term: Int64 = 1, _ steps: SessionChange.ChangeStep..., isRelease: Bool = false
  ) -> SessionChange {
    SessionChange(
      session: "s", lease: SessionLease(owner: owner, term: term), steps: steps,
      isRelease: isRelease)
  }

  @Test(arguments: [("", "is encrypted, but"), ("b", "another cluster secret")])
  func sessionOfAnotherSecretIsNotTakenOver(_ letters: String, _ reason: String) async throws {
    let one = try await server("one", "a")
    try await one.store.append([
      change(by: "one", .put(part: "p", bytes: Array("a token".utf8)), isRelease: true)
    ])
    await one.leave()
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    try connection.forEachMessage(
      in: connection.names.sessionStream, of: connection.names.allSessions
    ) { message in
      #expect(!message.bytes.indices.contains { message.bytes[$0...].starts(with: "token".utf8) })
    }
    let other = try await server("other", letters)
    await #expect {
      try await other.store.takeOver("s")
    } throws: { error in
      "\(error)".contains(reason)
    }
    await #expect(throws: NATSClusterError.self) { try await other.owner(of: "s") }
    await other.leave()
    let third = try await server("third", "ba")
    #expect(loaded.withLock { $0.map(\.parts) } == [["p": Array("a token".utf8)]])
    await third.leave()
  }

  @Test func sessionThatIsNotEncryptedIsNotTakenOver() async throws {
    let one = try await server("one")
    try await one.store.append([change(by: "one", .put(part: "p", bytes: [1]), isRelease: true)])
    await one.leave()
    let other = try await server("other", "a")
    await #expect {
      try await other.store.takeOver("s")
    } throws: { error in
      "\(error)".contains("is not encrypted, but this server has a cluster secret")
    }
    await other.leave()
  }

  @Test func sessionOfTheEarlierSecretIsStoredAgain() async throws {
    let one = try await server("one", "a")
    try await one.store.append([change(by: "one", .put(part: "p", bytes: [1]), isRelease: true)])
    await one.leave()
    let other = try await server("other", "ba")
    #expect(loaded.withLock { $0.map(\.parts) } == [["p": [1]]])
    let long = try await other.store.append([
      change(by: "other", term: 2, .put(part: "q", bytes: [2]))
    ])
    #expect(long == ["s"])
    let whole = change(
      by: "other", term: 2, .removeAll, .put(part: "p", bytes: [1]), .put(part: "q", bytes: [2]))
    #expect(try await other.store.append([whole]).isEmpty)
    try await other.store.append([change(by: "other", term: 2, isRelease: true)])
    await other.leave()
    let third = try await server("third", "b")
    #expect(loaded.withLock { $0.map(\.parts) } == [["p": [1], "q": [2]]])
    await third.leave()
  }

  @Test func secretIsReplacedStepByStep() async throws {
    let servers = [
      ("one", try await server("one", "a")), ("other", try await server("other", "a")),
    ]
    for letters in ["ab", "ba", "b"] {
      for (name, server) in servers {
        try write(letters, of: name)
        let reload = try #require(await server.reloadSecrets())
        #expect(reload == ClusterSecretReload(path: folder.path(name)))
        #expect(server.secretNames.count == letters.count)
      }
    }
    #expect(requests.withLock { $0 } == ["one": 1, "other": 1])
    for (_, server) in servers { await server.leave() }
  }

  @Test(arguments: [
    ("b", "lacks the secret"), ("ba", "has the cluster secret"),
    ("", "holds 0 secrets, but must hold 1 to 4"),
  ])
  func rejectedSecretsLeaveThoseInForce(_ letters: String, _ reason: String) async throws {
    let one = try await server("one", "a")
    let other = try await server("other", "a")
    let names = one.secretNames
    try write(letters, of: "one")
    let reload = try #require(await one.reloadSecrets())
    guard case .rejected(let found) = reload.result else {
      Issue.record("\(reload)")
      return
    }
    #expect(found.contains(reason))
    #expect(one.secretNames == names)
    // Once the other server has left, the file can be used if stored sessions stay readable.
    await other.leave()
    let again = try #require(await one.reloadSecrets())
    #expect((again.result == .inForce) == letters.contains("a"))
    await one.leave()
  }

  @Test func clusterWithoutSecretHasNoFile() async throws {
    let one = try await server("one")
    #expect(await one.reloadSecrets() == nil && one.secretNames.isEmpty)
    await one.leave()
  }
}

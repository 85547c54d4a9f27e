import Testing
import WayRPC
import WayTransport
import WayValues

@testable import WaySession

/// Sessions that are restored from a store.
@Suite(.timeLimit(.minutes(1)))
struct SessionRestorationTests {
  private static let serverHosts: ValueObject = [
    "hosts": [["scheme": "action", "kind": "task", "scope": "server"]]
  ]

  private static let policy: Value = ["rules": [["name": "all", "allow": ["*"], "server": true]]]

  /// Returns a session of two clients, the first of which has a server-wide host.
  private func storedSession() async throws -> StoredSession {
    let store = MemorySessionStore()
    let bridge = try InMemoryBridge.conformance(store: store, policy: Self.policy)
    try await bridge.sessionServer.dispatch.restore()
    let first = try await SequencedClient(bridge, Self.serverHosts)
    let second = try await SequencedClient(bridge, joining: first.openResult)
    // A client is stored when it has numbered a message.
    for client in [first, second] {
      try await client.call(1, "router.invoke", ["uri": "action://echo"])
      _ = try await client.wire.response(1)
    }
    try await bridge.server.advance(by: .milliseconds(100))
    await bridge.loopSessions.flushStore()
    await bridge.server.loop.settle()
    withExtendedLifetime((first, second)) {}
    return try #require(await store.sessions.first)
  }

  /// Restores a session at a new server, and returns what the server knows of it.
  private func restore(
    _ stored: StoredSession
  ) async throws -> (sessions: Int, clients: Int, serverHosts: Int) {
    let bridge = try InMemoryBridge.conformance(
      store: MemorySessionStore(), policy: Self.policy)
    try await bridge.sessionServer.dispatch.restore()
    await bridge.loopSessions.restore(stored)
    let resumable = bridge.loopSessions.resumableClients
    let names = try stored.parts.filter { $0.key.hasPrefix("client/") }.map {
      try RecordCoder.decode(ClientRecord.self, from: $0.value, $0.key).name
    }
    return (
      await bridge.sessionServer.dispatch.sessions(.all).count,
      names.count { resumable.find($0) != nil },
      bridge.sessionServer.serverHosts.definitions.count
    )
  }

  @Test func restoredClientsAndHostsAreRegistered() async throws {
    let known = try await restore(storedSession())
    #expect(known == (1, 2, 1))
  }

  @Test(
    "nothing of a session with a damaged part is registered",
    arguments: [
      (SessionPart.clientState(2).name, "acknowledged", ["damaged"]),
      (SessionPart.clientState(2).name, "calls", ["damaged"]),
      // These parts can be read, and contradict others when the first client is restored already.
      (SessionPart.client(2).name, "invitation", "unknown"),
      (
        SessionPart.stack.name, "pages",
        [["id": "p9", "level": 0, "hasStack": true, "style": "push"]]
      ),
    ] as [(String, String, Value)])
  func registersNothingOfADamagedSession(
    _ part: String, _ member: String, _ value: Value
  ) async throws {
    let stored = try await storedSession()
    var parts = stored.parts
    var record = try parts[part].flatMap { try JSON.parse($0.span.bytes).object } ?? [:]
    record[member] = value
    parts[part] = Array(try JSON.text(.object(record)).utf8)
    let known = try await restore(
      StoredSession(
        id: stored.id, lease: stored.lease, parts: parts, isComplete: stored.isComplete))
    #expect(known == (0, 0, 0))
  }
}

import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// The comparison of servers by their leases.
@Suite(.timeLimit(.minutes(1)))
struct NATSServerLeasesTests {
  private let natsServer: NATSServer
  private let conflicts = Mailbox<ClusterConflict>()

  init() throws { natsServer = try NATSServer() }

  /// A server with its lease.
  private struct LeaseHolder {
    let name: String
    let leases: NATSServerLeases
    let status = NATSLeaseStatus()
    let validity = SessionLeaseValidity(suspendedTime: NATSClusterClock.suspendedTime)

    init(_ name: String, on natsServer: NATSServer) throws {
      self.name = name
      leases = try NATSServerLeases(
        NATSClusterConfiguration(url: natsServer.url), leaseValidity: validity, status)
    }

    /// Joins, and does not renew the lease from then on.
    func join(
      _ secrets: String..., delayed: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws {
      try await leases.join(
        with: NATSLeaseValue(
          server: name, announcement: ClusterAnnouncement(host: "machine"), secrets: secrets),
        delayed: delayed)
    }
  }

  private func server(_ name: String) throws -> LeaseHolder {
    try LeaseHolder(name, on: natsServer)
  }

  private func handlers() -> ClusterHandlers {
    ClusterHandlers(
      leaseRenewed: {}, declaredDown: {}, conflictFound: { [conflicts] in conflicts.put($0) },
      messageReceived: { _ in }, messagesLost: {}, storageOutdated: {})
  }

  private func bucket() throws -> KeyValueBucket {
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    return try KeyValueBucket(
      connection.names.leaseBucket, description: "Leases of Waybridge, form 5", replicas: 1,
      lifetime: .seconds(86_400), on: connection)
  }

  /// The secrets in the key of a server.
  private func secrets(of server: String) throws -> [String]? {
    try bucket().currentValues().lazy.compactMap { NATSLeaseValue($0.bytes) }
      .first { $0.server == server }?.secrets
  }

  /// The first comparison of two servers that change their secrets at the same time finds nothing.
  @Test func secondServerToReplaceSecretsGivesWay() async throws {
    let (one, other, silent) = (try server("one"), try server("other"), try server("silent"))
    try await silent.join("a")
    try await other.join("a", "b")
    try await one.join("a", "b")
    // The first comparison of this server waits until the lease of the silent one has ended.
    let start = one.status.revision
    let isUsed = Locked(false)
    async let replacement: Void = one.leases.replaceSecrets(["b", "a"]) {
      isUsed.withLock { $0 = true }
    }
    while one.status.revision == start { await Task.yield() }
    await other.leases.begin(handlers())
    try await other.leases.replaceSecrets(["a"]) {}
    do {
      try await replacement
      Issue.record("it has not given way")
    } catch let conflict as ClusterConflict {
      #expect(conflict.reason.contains("the server other on machine has the cluster secret a"))
    }
    #expect(!isUsed.withLock { $0 })
    #expect(try secrets(of: "one") == ["a", "b"])
    #expect(try secrets(of: "other") == ["a"])
    for holder in [one, other] { await holder.leases.leave() }
  }

  /// Secrets that cannot be used are not published any more.
  @Test func failedUseOfSecretsIsUndone() async throws {
    struct UseError: Error {}
    let one = try server("one")
    try await one.join("a")
    await #expect(throws: UseError.self) {
      try await one.leases.replaceSecrets(["a", "b"]) { throw UseError() }
    }
    #expect(try secrets(of: "one") == ["a"])
    await one.leases.leave()
  }

  /// Whatever the comparison at the start has missed is found later.
  @Test func serversAreComparedWhileTheyRun() async throws {
    // As if it had joined before, unseen.
    let bucket = try bucket()
    var earlier = NATSLeaseValue(
      server: "earlier", announcement: ClusterAnnouncement(host: "machine"), secrets: ["b"])
    var last = try #require(
      try bucket.put(
        earlier.bytes(lifetime: .seconds(4)), as: "server.1", after: 0, isDeletion: true))
    earlier.joined = last
    let one = try server("one")
    try await one.join("a")
    await one.leases.begin(handlers())
    var found: ClusterConflict?
    while found == nil {
      try Task.checkCancellation()
      last = try #require(
        try bucket.put(earlier.bytes(lifetime: .seconds(4)), as: "server.1", after: last))
      found = await conflicts.next(within: .milliseconds(200))
    }
    #expect(
      found?.reason.contains("the server earlier on machine has the cluster secret b") == true)
    // Its lease has ended, and it does not join before the conflict has.
    #expect(one.validity.hasExpired(at: NATSClusterClock.nanoseconds))
    #expect(try secrets(of: "one") == nil)
    await one.leases.leave()
  }

  /// Once NATS has responded, it is not the cause of anything, also if this server has no lease.
  @Test func failureEndsWithAResponse() async throws {
    let (one, other) = (try server("one"), try server("other"))
    try await other.join("a")
    await other.leases.begin(handlers())
    one.status.failure = "NATS did not respond"
    await #expect(throws: ClusterConflict.self) { try await one.join("b") }
    #expect(one.status.failure == nil)
    await other.leases.leave()
  }

  /// A server that may not join tries it again and again.
  @Test func refusedServerWritesNothing() async throws {
    let (one, other) = (try server("one"), try server("other"))
    try await one.join("a")
    await one.leases.withdraw()
    try await other.join("a")
    await other.leases.begin(handlers())
    let key = "server." + "one".utf8.hex
    let last = try #require(try bucket().entry(of: key)).lastSequence
    await #expect(throws: ClusterConflict.self) { try await one.join("b") }
    #expect(try bucket().entry(of: key)?.lastSequence == last)
    await other.leases.leave()
  }

  @Test func waitBeforeJoiningIsReported() async throws {
    let reports = Mailbox<String>()
    let (silent, one) = (try server("silent"), try server("one"))
    try await silent.join("a")
    try await one.join("b", delayed: { reports.put($0) })
    #expect(await reports.next(within: .seconds(1))?.contains("(silent)") == true)
    #expect(await reports.next(within: .zero) == nil)
    await one.leases.leave()
  }
}

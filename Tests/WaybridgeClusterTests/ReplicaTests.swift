import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// Data that several NATS servers replicate.
@Suite(.timeLimit(.minutes(3)))
struct ReplicaTests {
  private static let streamName = "RACES"
  private let natsServers: [NATSServer]
  private let connections: [NATSConnection]

  init() throws {
    natsServers = try NATSServer.cluster(of: 3)
    connections = try natsServers.prefix(2).map {
      try NATSConnection(NATSClusterConfiguration(url: $0.url))
    }
    for connection in connections { while try !Self.isStreamCreated(by: connection) {} }
  }

  /// Returns whether the stream exists, and creates it if possible. The NATS servers reject it until
  /// they have elected a leader.
  private static func isStreamCreated(by connection: NATSConnection) throws -> Bool {
    do throws(NATSClusterError) {
      try connection.requireStream(
        NATSConnection.StreamDefinition(
          name: streamName, displayName: "the stream", description: "Races", subject: "race.*",
          replicas: 3, allowsRollups: true))
      return true
    } catch {
      guard let code = error.code else { return false }
      if code == 10005 || code == 10008 || code == 10074 { return false }
      throw error
    }
  }

  /// Two messages that follow the same message may both be stored, but only one of them is the
  /// next. This holds for both writers, and for a NATS server that was killed and replays its log
  /// after the restart.
  @Test func onlyOneOfTwoCompetingMessagesIsNext() async throws {
    let first = NATSConnection.Publication(subject: "race.x", bytes: [0], previousSequence: 0)
    guard case .stored(var last)? = try connections[0].publish([first]).first else {
      Issue.record("no message is stored")
      return
    }
    let pair = (TaskConfined(connections[0]), TaskConfined(connections[1]))
    for _ in 0..<200 {
      let publication = NATSConnection.Publication(
        subject: "race.x", bytes: [1], previousSequence: last)
      async let one = Self.publishedNumber(of: publication, by: pair.0)
      async let other = Self.publishedNumber(of: publication, by: pair.1)
      let numbers = [try await one, try await other].compactMap(\.self)
      for connection in connections {
        try connection.synchronize(Self.streamName)
        let next = try numbers.filter {
          try connection.isNext($0, after: last, of: publication.subject, in: Self.streamName)
        }
        #expect(next.count == 1 && next.first == numbers.min())
      }
      guard let number = numbers.max() else { return }
      last = number
    }
    for connection in connections { #expect(connection.isReplicated) }
    // The rollup deletes the messages that a server needs in order to reject one of the two.
    let whole = NATSConnection.Publication(
      subject: "race.x", bytes: [2], previousSequence: last, rollsUp: true)
    _ = try connections[0].publish([whole])
    var natsServers = natsServers
    for place in natsServers.indices {
      natsServers[place] = try natsServers[place].killAndRestart()
      let connection = try NATSConnection(NATSClusterConfiguration(url: natsServers[place].url))
      while try !Self.isStreamCreated(by: connection) {}
      // There may be no leader yet.
      while (try? connection.synchronize(Self.streamName)) == nil {}
      let more = NATSConnection.Publication(
        subject: "race.y\(place)", bytes: [3], previousSequence: 0)
      guard case .stored(let number)? = try connection.publish([more]).first else {
        Issue.record("no further message is stored")
        return
      }
      var numbers: [UInt64] = []
      while numbers.count != natsServers.count || numbers.contains(where: { $0 < number }) {
        numbers = natsServers.compactMap { try? $0.lastSequence(in: Self.streamName) }
      }
      #expect(Set(numbers) == [number])
    }
  }

  @Test func onlyOneOfTwoCompetingKeyWritesWins() async throws {
    let pair = (
      TaskConfined(try keyBucket(connections[0])), TaskConfined(try keyBucket(connections[1]))
    )
    var last: UInt64 = 0
    for _ in 0..<100 {
      let revision = last
      async let one = Self.put(1, after: revision, in: pair.0)
      async let other = Self.put(2, after: revision, in: pair.1)
      let numbers = [try await one, try await other]
      let entry = try #require(try pair.0.value.entry(of: "x"))
      #expect(entry.message.sequence > revision && entry.message.previousSequence == revision)
      // If the other write arrived before the check, neither writer reports success.
      for (byte, number) in zip([1, 2] as [UInt8], numbers) {
        guard let number else { continue }
        #expect(number == entry.message.sequence && [byte] == entry.message.bytes)
      }
      last = entry.lastSequence
    }
  }

  /// A NATS server that compares two writes with the same message stores both. It also stores a
  /// write after no message, which it does not compare.
  @Test func staleKeyWriteDoesNotReplaceValue() throws {
    let keys = try keyBucket(connections[0])
    let others = try self.keyBucket(connections[1])
    let first = try #require(try keys.put([1], as: "x", after: 0))
    let second = try #require(try keys.put([2], as: "x", after: first))
    // More than the number of retained messages.
    for late: UInt8 in 3..<9 {
      #expect(try keys.put([late], as: "x", after: 0) == nil)
      let entry = try #require(try others.entry(of: "x"))
      #expect(entry.message.sequence == second && entry.message.bytes == [2])
      #expect(entry.lastSequence > second)
      #expect(try keys.put([late], as: "x", after: second) == nil)
    }
    let end = try #require(try keys.entry(of: "x")).lastSequence
    let next = try #require(try keys.put([9], as: "x", after: end))
    let entry = try #require(try keys.entry(of: "x"))
    #expect(entry.message.sequence == next && entry.message.bytes == [9])
  }

  /// Declaring a server down too late has no effect: neither the declaring server nor other readers
  /// count it as down.
  @Test func lateDeletionDoesNotEndLease() async throws {
    let wasLost = Locked(false)
    let shared = NATSLeaseStatus()
    let server = try NATSServerLeases(
      NATSClusterConfiguration(url: natsServers[0].url, replicas: 3),
      leaseValidity: SessionLeaseValidity(suspendedTime: { 0 }), shared)
    let other = try NATSServerLeases(
      NATSClusterConfiguration(url: natsServers[1].url, replicas: 3),
      leaseValidity: SessionLeaseValidity(suspendedTime: { 0 }), NATSLeaseStatus())
    try await server.join(
      with: NATSLeaseValue(server: "a", announcement: ClusterAnnouncement(), secrets: []))
    await server.begin(
      ClusterHandlers(
        leaseRenewed: {}, declaredDown: { wasLost.withLock { $0 = true } },
        messageReceived: { _ in }, messagesLost: {},
        storageOutdated: {}))
    for _ in 0..<3 {
      let late = NATSConnection.Publication(
        subject: "$KV.waybridge-servers.server.61", bytes: [], previousSequence: 0, isDeletion: true
      )
      _ = try connections[0].publish([late])
      let renewal = shared.revision
      while shared.revision == renewal, !wasLost.withLock({ $0 }) {
        #expect(try await !other.isDown("a"))
      }
    }
    #expect(wasLost.withLock { $0 } == false)
    await server.leave()
  }

  /// A server of a cluster with three voters.
  private struct LeaseHolder {
    let leases: NATSServerLeases
    let validity = SessionLeaseValidity(suspendedTime: NATSClusterClock.suspendedTime)
    let quorum: NATSQuorumMonitor
    private let value: NATSLeaseValue

    init(_ name: String, _ natsServers: [NATSServer], secrets: [String] = []) throws {
      leases = try NATSServerLeases(
        NATSClusterConfiguration(
          url: natsServers.map(\.url).joined(separator: ","), replicas: 3),
        leaseValidity: validity, NATSLeaseStatus())
      quorum = try #require(leases.quorum)
      value = NATSLeaseValue(
        server: name, announcement: ClusterAnnouncement(host: "machine"), secrets: secrets)
    }

    /// Joins, and does not renew the lease from then on.
    func join() async throws { try await leases.join(with: value) }

    /// Calls `check` until the lease was extended `count` times more.
    func awaitExtensions(
      _ count: Int, _ check: () async throws -> Void = {}
    ) async throws {
      let start = validity.counts.extensions
      while validity.counts.extensions < start + count {
        let isValid = !validity.hasExpired(at: NATSClusterClock.nanoseconds)
        try #require(isValid, "the lease ended after \(validity.counts.extensions) extensions")
        try await check()
        await Task.yield()
      }
    }
  }

  /// A majority of the NATS servers extends the lease of a server that cannot renew it. No other
  /// server counts it as down before that has ended, although it sees no renewal.
  @Test func votesExtendLeaseUntilServerIsSilent() async throws {
    let server = try LeaseHolder("a", natsServers)
    let other = try LeaseHolder("b", natsServers)
    try await other.join()
    try await server.join()
    try await server.awaitExtensions(20) {
      let isDown = try await other.leases.isDown("a")
      #expect(!isDown)
    }
    server.quorum.end()
    while try await !other.leases.isDown("a") {}
    #expect(server.validity.hasExpired(at: NATSClusterClock.nanoseconds))
    #expect(server.quorum.connectedCount == 0)
    await other.leases.leave()
  }

  /// A server that has withdrawn is down at once for the others, its lease is not extended, and it
  /// can join again with the same voters.
  @Test func votesDoNotExtendLeaseOfServerThatHasWithdrawn() async throws {
    let server = try LeaseHolder("a", natsServers)
    let other = try LeaseHolder("b", natsServers)
    try await other.join()
    try await server.join()
    try await server.awaitExtensions(4)
    await server.leases.withdraw()
    let extensions = server.validity.counts.extensions
    #expect(try await other.leases.isDown("a"))
    #expect(server.quorum.connectedCount == 0)
    // A round that was in progress has ended by now.
    try await other.awaitExtensions(12)
    #expect(server.validity.counts.extensions == extensions)
    #expect(server.validity.hasExpired(at: NATSClusterClock.nanoseconds))
    #expect(try await other.leases.isDown("a"))

    try await server.leases.rejoin(ClusterAnnouncement(host: "machine"))
    try await server.awaitExtensions(20) {
      let isDown = try await other.leases.isDown("a")
      #expect(!isDown)
    }
    await server.leases.leave()
    #expect(try await other.leases.isDown("a"))
    await other.leases.leave()
  }

  /// A server with other settings does not join while votes extend the lease of one that cannot renew
  /// it: that one would not compare itself when it can.
  @Test func serverWithOtherSettingsWaitsForTheEndOfExtensions() async throws {
    let server = try LeaseHolder("a", natsServers, secrets: ["one"])
    let other = try LeaseHolder("b", natsServers, secrets: ["two"])
    try await server.join()
    let joining = Task { try await other.join() }
    try await server.awaitExtensions(40) {
      #expect(other.validity.counts.renewals == 0, "it has joined")
    }
    server.quorum.end()
    try await joining.value
    #expect(server.validity.hasExpired(at: NATSClusterClock.nanoseconds))
    await other.leases.leave()
  }

  @Test func documentKeepsFirstOfCompetingWrites() async throws {
    let one = try NATSClusterDirectory(
      NATSClusterConfiguration(url: natsServers[0].url, replicas: 3))
    let other = try NATSClusterDirectory(
      NATSClusterConfiguration(url: natsServers[1].url, replicas: 3))
    let first = try #require(try await one.put([1], as: "x", after: 0))
    // As from a server that starts at the same time.
    let late = NATSConnection.Publication(
      subject: "$KV.waybridge-documents.x", bytes: [2], previousSequence: 0)
    _ = try connections[0].publish([late])
    let found = try #require(try await other.document("x"))
    #expect(found.bytes == [1] && found.revision == first)
    #expect(try await other.put([3], as: "x", after: 0) == nil)
    let next = try #require(try await other.put([3], as: "x", after: first))
    #expect(try await one.put([4], as: "x", after: first) == nil)
    let last = try #require(try await one.document("x"))
    #expect(last.bytes == [3] && last.revision == next)
  }

  /// Returns a bucket that all NATS servers replicate.
  private func keyBucket(_ connection: NATSConnection) throws -> KeyValueBucket {
    try KeyValueBucket("keys", description: "Keys", replicas: 3, on: connection)
  }

  @Test func onlyOneServerTakesOverASession() async throws {
    let names = connections[0].names
    let servers = try ["a", "b"].enumerated().map { place, name in
      let logs = try JetStreamSessionLogWriter(
        NATSClusterConfiguration(url: natsServers[place].url, replicas: 3)
      ) {
        0
      }
      return (name: name, logs: TaskConfined(logs))
    }
    let lease = SessionLease(owner: "a", term: 1)
    let put = SessionChange.ChangeStep.put(part: "p", bytes: [1])
    let begin = SessionChange(session: "x", lease: lease, steps: [put])
    _ = try servers[0].logs.value.append([begin])
    for term: Int64 in 2..<60 {
      // A server that lags behind returns its own data, in which the last message may be missing. No
      // server can take the session over from such a state.
      let current = try #require(
        try connections[1].lastMessage(
          in: connections[1].names.sessionStream, of: names.sessionSubject(of: "x"))
      ).sequence
      var found: JetStreamSessionLogState?
      while found?.lease?.term != term - 1 || found?.lastSequence != current {
        found = try connections[0].sessionLogs(
          of: names.sessionSubject(of: "x"), includesParts: true
        )
        .first
      }
      let reading = try #require(found)
      #expect(!reading.hasGaps && reading.parts.all == ["p": [1]])
      async let one = Self.takeOver(reading, servers[0].logs, "a")
      async let other = Self.takeOver(reading, servers[1].logs, "b")
      let leases = [try await one, try await other].compactMap(\.self)
      #expect(leases.count == 1)
      let own = try #require(leases.first)
      #expect(own.term == term)
      // A lookup of the owner reads the last message.
      let last = try connections[1].lastMessage(
        in: connections[1].names.sessionStream, of: names.sessionSubject(of: "x"))
      #expect(try JetStreamSessionLogEntry(try #require(last).bytes).lease == own)
    }
  }

  /// A NATS server replays a purge of some subjects from its log after a restart.
  @Test func purgingASubjectKeepsOthersAfterRestart() throws {
    let connection = connections[0]
    var last: [String: UInt64] = [:]
    func publish(_ subject: String, _ byte: UInt8, rollsUp: Bool = false) throws {
      let publication = NATSConnection.Publication(
        subject: subject, bytes: [byte], previousSequence: last[subject, default: 0],
        rollsUp: rollsUp)
      guard case .stored(let number)? = try connection.publish([publication]).first else {
        Issue.record("a message is not stored")
        return
      }
      last[subject] = number
    }
    for byte: UInt8 in 0..<3 {
      for subject in ["race.stays", "race.shrinks", "race.goes"] { try publish(subject, byte) }
    }
    try publish("race.shrinks", 3, rollsUp: true)
    try connection.delete(
      Self.streamName, "race.goes", through: try #require(last["race.goes"]))
    // A change that is certainly applied precedes later ones in the log.
    try publish("race.shrinks", 4)
    try publish("race.stays", 4)
    var natsServers = natsServers
    for place in natsServers.indices {
      natsServers[place] = try natsServers[place].killAndRestart()
      // A restarted server may still be removing the purged messages, one after the other. It never
      // removes others meanwhile.
      let kept: [String: [UInt8]] = ["race.stays": [0, 1, 2, 4], "race.shrinks": [3, 4]]
      var stored: [String: [UInt8]]?
      while stored != kept {
        stored = try? Self.storedBytes(by: natsServers[place])
        stored?["race.goes"] = nil
        // It reports nothing until it has read its log.
        if let stored, !stored.isEmpty { #expect(stored == kept) }
      }
    }
  }

  /// Returns the bytes of each subject once there is a leader.
  private static func storedBytes(by natsServer: NATSServer) throws -> [String: [UInt8]] {
    let connection = try NATSConnection(
      NATSClusterConfiguration(url: natsServer.url), timeout: .seconds(1))
    while try !isStreamCreated(by: connection) {}
    try connection.synchronize(streamName)
    var stored: [String: [UInt8]] = [:]
    try connection.forEachMessage(in: streamName, of: "race.*") { message in
      stored[message.subject, default: []] += message.bytes
    }
    return stored
  }

  /// Publishes a message. Returns its sequence number; `nil` if it is not stored.
  @concurrent
  private static func publishedNumber(
    of publication: NATSConnection.Publication, by connection: TaskConfined<NATSConnection>
  ) async throws -> UInt64? {
    guard case .stored(let number)? = try connection.value.publish([publication]).first else {
      return nil
    }
    return number
  }

  /// Takes over a session. Returns the new lease; `nil` if another server has it.
  @concurrent
  private static func takeOver(
    _ reading: JetStreamSessionLogState, _ logs: TaskConfined<JetStreamSessionLogWriter>,
    _ server: String
  ) async throws -> SessionLease? {
    try logs.value.takeOver([reading], for: server)[reading.id]
  }

  /// Writes to a key. Returns the sequence number of the write; `nil` if it does not become the
  /// key's value.
  @concurrent
  private static func put(
    _ byte: UInt8, after: UInt64, in keys: TaskConfined<KeyValueBucket>
  ) async throws -> UInt64? {
    try keys.value.put([byte], as: "x", after: after)
  }

  /// A value that one task uses at a time.
  private struct TaskConfined<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
}

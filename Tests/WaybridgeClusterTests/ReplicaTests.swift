import TestSupport
import Testing
import WayTransport

@testable import WaySession
@testable import WaybridgeCluster

/// What several engines keep together.
@Suite(.timeLimit(.minutes(3)))
struct ReplicaTests {
  private static let stream = "RACES"
  private let engines: [NATSServer]
  private let connections: [NATSConnection]

  init() throws {
    engines = try NATSServer.cluster(of: 3)
    connections = try engines.prefix(2).map { try NATSConnection(NATSAddress($0.url)) }
    for connection in connections { while try !Self.isMade(by: connection) {} }
  }

  /// Whether there is the stream; it is refused until the engines have agreed on a leader.
  private static func isMade(by connection: NATSConnection) throws -> Bool {
    do throws(NATSClusterError) {
      try connection.need(
        NATSConnection.Stream(
          name: stream, what: "the stream", description: "Races", subject: "race.*",
          replicas: 3, takesRollups: true))
      return true
    } catch {
      guard let code = error.code else { return false }
      if code == 10005 || code == 10008 || code == 10074 { return false }
      throw error
    }
  }

  /// Two that come after the same message may both be kept, and one of them is the next: for both
  /// that ask, and for an engine that was killed, starts and carries out once more what it had.
  @Test func ofTwoThatComeAfterTheSameMessageOneIsTheNext() async throws {
    let first = NATSConnection.Publication(subject: "race.x", bytes: [0], after: 0)
    guard case .kept(var last)? = try connections[0].publish([first]).first else {
      Issue.record("nothing is kept")
      return
    }
    let pair = (Confined(connections[0]), Confined(connections[1]))
    for _ in 0..<200 {
      let publication = NATSConnection.Publication(subject: "race.x", bytes: [1], after: last)
      async let one = Self.number(of: publication, by: pair.0)
      async let other = Self.number(of: publication, by: pair.1)
      let kept = [try await one, try await other].compactMap(\.self)
      for connection in connections {
        try connection.settle(Self.stream)
        let next = try kept.filter {
          try connection.isNext($0, after: last, of: publication.subject, in: Self.stream)
        }
        #expect(next.count == 1 && next.first == kept.min())
      }
      guard let number = kept.max() else { return }
      last = number
    }
    for connection in connections { #expect(connection.isReplicated) }
    // What an engine would have to know so as to refuse one of two is not there any more.
    let whole = NATSConnection.Publication(
      subject: "race.x", bytes: [2], after: last, rollsUp: true)
    _ = try connections[0].publish([whole])
    var engines = engines
    for place in engines.indices {
      engines[place] = try engines[place].killedAndStarted()
      let connection = try NATSConnection(NATSAddress(engines[place].url))
      while try !Self.isMade(by: connection) {}
      // There may be no leader yet.
      while (try? connection.settle(Self.stream)) == nil {}
      let more = NATSConnection.Publication(subject: "race.y\(place)", bytes: [3], after: 0)
      guard case .kept(let number)? = try connection.publish([more]).first else {
        Issue.record("no more is kept")
        return
      }
      var numbers: [UInt64] = []
      while numbers.count != engines.count || numbers.contains(where: { $0 < number }) {
        numbers = engines.compactMap { try? $0.lastNumber(in: Self.stream) }
      }
      #expect(Set(numbers) == [number])
    }
  }

  @Test func ofTwoWhoWriteAKeyAfterTheSameRevisionOneHasIt() async throws {
    let pair = (Confined(try keys(connections[0])), Confined(try keys(connections[1])))
    var last: UInt64 = 0
    for _ in 0..<100 {
      let revision = last
      async let one = Self.put(1, after: revision, in: pair.0)
      async let other = Self.put(2, after: revision, in: pair.1)
      let kept = [try await one, try await other]
      let entry = try #require(try pair.0.value.entry(of: "x"))
      #expect(entry.message.number > revision && entry.message.after == revision)
      // Where the other came before it was looked at, nobody is told so.
      for (byte, number) in zip([1, 2] as [UInt8], kept) {
        guard let number else { continue }
        #expect(number == entry.message.number && [byte] == entry.message.bytes)
      }
      last = entry.end
    }
  }

  /// An engine that has compared two with the same message keeps both; so it does with what comes
  /// after none, which it does not compare.
  @Test func whatDoesNotFollowWhatItComesAfterIsNotWhatAKeyHas() throws {
    let keys = try keys(connections[0])
    let others = try self.keys(connections[1])
    let first = try #require(try keys.put([1], as: "x", after: 0))
    let second = try #require(try keys.put([2], as: "x", after: first))
    // As many as are kept besides.
    for late: UInt8 in 3..<9 {
      #expect(try keys.put([late], as: "x", after: 0) == nil)
      let entry = try #require(try others.entry(of: "x"))
      #expect(entry.message.number == second && entry.message.bytes == [2])
      #expect(entry.end > second)
      #expect(try keys.put([late], as: "x", after: second) == nil)
    }
    let end = try #require(try keys.entry(of: "x")).end
    let next = try #require(try keys.put([9], as: "x", after: end))
    let entry = try #require(try keys.entry(of: "x"))
    #expect(entry.message.number == next && entry.message.bytes == [9])
  }

  /// Who finds a server gone too late has not found so, and neither have those who look.
  @Test func aLeaseThatIsTakenAwayTooLateHolds() async throws {
    let wasLost = Locked(false)
    let shared = SharedLease()
    let server = try NATSServerLeases(
      NATSAddress(engines[0].url), tenure: Tenure(suspension: { 0 }), shared, replicas: 3)
    let other = try NATSServerLeases(
      NATSAddress(engines[1].url), tenure: Tenure(suspension: { 0 }), SharedLease(), replicas: 3)
    try await server.join(
      as: "a",
      ClusterHandlers(
        renewed: {}, lost: { wasLost.withLock { $0 = true } }, received: { _ in }, cutOff: {},
        bereft: {}))
    for _ in 0..<3 {
      let late = NATSConnection.Publication(
        subject: "$KV.waybridge-servers.server.61", bytes: [], after: 0, isDeletion: true)
      _ = try connections[0].publish([late])
      let renewal = shared.renewal
      while shared.renewal == renewal, !wasLost.withLock({ $0 }) {
        #expect(try await !other.isGone("a"))
      }
    }
    #expect(wasLost.withLock { $0 } == false)
    await server.leave()
  }

  @Test func aDocumentIsWhatWasKeptOfIt() async throws {
    let one = try Lookups(NATSAddress(engines[0].url), replicas: 3)
    let other = try Lookups(NATSAddress(engines[1].url), replicas: 3)
    let first = try #require(try await one.put([1], as: "x", after: 0))
    // As of a server that starts at the same time.
    let late = NATSConnection.Publication(
      subject: "$KV.waybridge-documents.x", bytes: [2], after: 0)
    _ = try connections[0].publish([late])
    let found = try #require(try await other.document("x"))
    #expect(found.bytes == [1] && found.revision == first)
    #expect(try await other.put([3], as: "x", after: 0) == nil)
    let next = try #require(try await other.put([3], as: "x", after: first))
    #expect(try await one.put([4], as: "x", after: first) == nil)
    let last = try #require(try await one.document("x"))
    #expect(last.bytes == [3] && last.revision == next)
  }

  /// A bucket that all engines keep.
  private func keys(_ connection: NATSConnection) throws -> KeyValueBucket {
    try KeyValueBucket("keys", description: "Keys", replicas: 3, on: connection)
  }

  @Test func ofTwoWhoTakeASessionOverOneHasIt() async throws {
    let servers = try ["a", "b"].enumerated().map { place, name in
      let logs = try OwnedLogs(NATSAddress(engines[place].url), replicas: 3) { 0 }
      return (name: name, logs: Confined(logs))
    }
    let lease = SessionLease(owner: "a", term: 1)
    let put = SessionChange.Step.put(part: "p", bytes: [1])
    let begin = SessionChange(session: "x", lease: lease, steps: [put])
    _ = try servers[0].logs.value.append([begin])
    for term: Int64 in 2..<60 {
      // An engine that is behind the others gives what it has.
      var found: SessionReading?
      while found?.lease?.term != term - 1 {
        found = try connections[0].logs(of: Subject.of("x"), keepsParts: true).first
      }
      let reading = try #require(found)
      #expect(!reading.isHoled && reading.parts.all == ["p": [1]])
      async let one = Self.takes(reading, servers[0].logs, "a")
      async let other = Self.takes(reading, servers[1].logs, "b")
      let taken = [try await one, try await other].compactMap(\.self)
      #expect(taken.count == 1)
      let own = try #require(taken.first)
      #expect(own.term == term)
      // Who looks up whose it is looks at the last message.
      let last = try connections[1].last(in: OwnedLogs.stream, of: Subject.of("x"))
      #expect(try JetStreamSessionLogEntry(try #require(last).bytes).lease == own)
    }
  }

  /// What is taken away of some subjects is carried out again by an engine that starts, and finds it
  /// in its log.
  @Test func whatGoesTakesNothingElseWithItWhereEnginesAreKilled() throws {
    let connection = connections[0]
    var last: [String: UInt64] = [:]
    func publish(_ subject: String, _ byte: UInt8, rollsUp: Bool = false) throws {
      let publication = NATSConnection.Publication(
        subject: subject, bytes: [byte], after: last[subject, default: 0], rollsUp: rollsUp)
      guard case .kept(let number)? = try connection.publish([publication]).first else {
        Issue.record("a message is not kept")
        return
      }
      last[subject] = number
    }
    for byte: UInt8 in 0..<3 {
      for subject in ["race.stays", "race.shrinks", "race.goes"] { try publish(subject, byte) }
    }
    try publish("race.shrinks", 3, rollsUp: true)
    try connection.delete(
      Self.stream, "race.goes", through: try #require(last["race.goes"]))
    // What is carried out for sure is in the log before what follows.
    try publish("race.shrinks", 4)
    try publish("race.stays", 4)
    var engines = engines
    for place in engines.indices {
      engines[place] = try engines[place].killedAndStarted()
      var kept: [String: [UInt8]]?
      while kept == nil { kept = try? Self.kept(by: engines[place]) }
      #expect(kept == ["race.stays": [0, 1, 2, 4], "race.shrinks": [3, 4]])
    }
  }

  /// The bytes of each subject, once there is a leader.
  private static func kept(by engine: NATSServer) throws -> [String: [UInt8]] {
    let connection = try NATSConnection(NATSAddress(engine.url), patience: .seconds(1))
    while try !isMade(by: connection) {}
    try connection.settle(stream)
    var kept: [String: [UInt8]] = [:]
    try connection.messages(in: stream, of: "race.*") { message in
      kept[message.subject, default: []] += message.bytes
    }
    return kept
  }

  /// Nil where it is not kept.
  @concurrent
  private static func number(
    of publication: NATSConnection.Publication, by connection: Confined<NATSConnection>
  ) async throws -> UInt64? {
    guard case .kept(let number)? = try connection.value.publish([publication]).first else {
      return nil
    }
    return number
  }

  /// The lease of who has taken a session over; nil where another has it.
  @concurrent
  private static func takes(
    _ reading: SessionReading, _ logs: Confined<OwnedLogs>, _ server: String
  ) async throws -> SessionLease? {
    try logs.value.take([reading], for: server)[reading.id]
  }

  /// The number of what was written to a key; nil where it is not what that has.
  @concurrent
  private static func put(
    _ byte: UInt8, after: UInt64, in keys: Confined<KeyValueBucket>
  ) async throws -> UInt64? {
    try keys.value.put([byte], as: "x", after: after)
  }

  /// What one task uses at a time.
  private struct Confined<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
}

import TestSupport
import Testing
import WaySession
import WayTransport
import WayValues

@testable import WaybridgeCluster

/// What is left of a session's log in the engine.
@Suite(.timeLimit(.minutes(1)))
struct JetStreamSessionLogWriterTests {
  private let engine: NATSServer
  private let logs: OwnedLogs
  private let lease = SessionLease(owner: "a", term: 2)
  /// How often the server has lost its lease; nil where it has none.
  private let losses: Locked<Int?>

  init() throws {
    engine = try NATSServer()
    let losses = Locked<Int?>(0)
    self.losses = losses
    logs = try OwnedLogs(NATSAddress(engine.url), replicas: 1) { losses.withLock { $0 } }
  }

  private func change(
    _ steps: SessionChange.Step..., isEnd: Bool = false, isRelease: Bool = false
  ) -> SessionChange {
    SessionChange(session: "x", lease: lease, steps: steps, isEnd: isEnd, isRelease: isRelease)
  }

  private func put(_ part: String, bytes: Int = 1) -> SessionChange.Step {
    .put(part: part, bytes: [UInt8](repeating: 7, count: bytes))
  }

  private func reading() throws -> SessionReading? {
    let connection = try NATSConnection(NATSAddress(engine.url))
    return try connection.logs(of: Subject.of("x"), keepsParts: true).first
  }

  @Test(arguments: [(bytes: 1, messages: 1), (bytes: 1 << 20, messages: 3)])
  func aSessionAsAWholeIsAllThatIsLeft(_ size: (bytes: Int, messages: Int)) throws {
    for part in ["a", "b", "c"] { _ = try logs.append([change(put(part))]) }
    #expect(try reading()?.count == 3)
    _ = try logs.append([change(.removeAll, put("d", bytes: size.bytes))])
    let whole = try #require(try reading())
    #expect(whole.count == size.messages && !whole.isHoled)
    #expect(whole.parts.all.mapValues(\.count) == ["d": size.bytes])
    _ = try logs.append([change(put("e"))])
    #expect(try reading()?.count == size.messages + 1)
    _ = try logs.append([change(isEnd: true)])
    #expect(try logs.clear())
    #expect(try reading() == nil)
  }

  /// Has the messages of the session go, as where an engine has lost them; all of them, or up to one.
  private func lose(through number: UInt64 = .max) throws {
    let connection = try NATSConnection(NATSAddress(engine.url))
    try connection.delete(OwnedLogs.stream, Subject.of("x"), through: number)
  }

  /// Another writes to the session's log, after its last message.
  private func write(_ part: String, by other: SessionLease) throws {
    let connection = try NATSConnection(NATSAddress(engine.url))
    let last = try connection.last(in: OwnedLogs.stream, of: Subject.of("x"))?.number ?? 0
    let change = SessionChange(session: "x", lease: other, steps: [put(part)])
    _ = try connection.publish(
      JetStreamSessionLogEntry.messages(of: change, limit: 1000).map {
        NATSConnection.Publication(subject: Subject.of("x"), bytes: $0, after: last)
      })
  }

  @Test func whatTheEngineHasLostIsWrittenAnew() throws {
    for part in ["a", "b"] { _ = try logs.append([change(put(part))]) }
    try lose()
    #expect(throws: NATSClusterError.self) { try logs.append([change(put("c"))]) }
    #expect(logs.takeBereft() && !logs.takeBereft())
    _ = try logs.append([change(.removeAll, put("a"), put("b"), put("c"))])
    let whole = try #require(try reading())
    #expect(!whole.isHoled && whole.parts.all.keys.sorted() == ["a", "b", "c"])
  }

  /// What the last owner has written late does not count, where this server's own is there.
  @Test(arguments: [1, 2] as [Int64]) func whoComesTooLateIsNotHeeded(_ term: Int64) throws {
    _ = try logs.append([change(put("a"))])
    try write("x", by: SessionLease(owner: "b", term: term))
    #expect(throws: NATSClusterError.self) { try logs.append([change(put("b"))]) }
    #expect(!logs.takeBereft())
    _ = try logs.append([change(.removeAll, put("a"), put("b"))])
    let whole = try #require(try reading())
    #expect(whole.lease == lease && whole.parts.all.keys.sorted() == ["a", "b"])
  }

  /// How a server comes to lose a session.
  enum Loss: CaseIterable, Sendable { case all, end, leaseAndBack, lease, takenOver }

  @Test(arguments: Loss.allCases) func whoCannotBeSureHasLostTheSession(_ loss: Loss) throws {
    for part in ["a", "b"] { _ = try logs.append([change(put(part))]) }
    let other = SessionLease(owner: "b", term: 3)
    switch loss {
    case .all: losses.withLock { $0 = nil }
    case .end:
      try lose()
      try write("x", by: other)
    case .leaseAndBack: losses.withLock { $0 = 1 }
    case .lease:
      try write("x", by: SessionLease(owner: "b", term: 1))
      losses.withLock { $0 = nil }
    case .takenOver:
      try write("x", by: other)
      losses.withLock { $0 = 1 }
    }
    if loss == .all || loss == .leaseAndBack { try lose() }
    #expect(throws: SessionStoreError.leaseLost(sessions: ["x"])) {
      try logs.append([change(put("c"))])
    }
    #expect(!logs.takeBereft())
  }

  /// That it was given back was kept, and nobody was told: another has it by now.
  @Test func whatIsGivenBackIsNotTakenBack() throws {
    _ = try logs.append([change(put("a"))])
    let other = SessionLease(owner: "b", term: 3)
    try write("x", by: other)
    #expect(throws: SessionStoreError.leaseLost(sessions: ["x"])) {
      try logs.append([change(.removeAll, put("a"), isRelease: true)])
    }
    #expect(try reading()?.lease == other)
  }

  @Test(arguments: [0, .min, .max] as [Int64]) func noServerHasTheTerm(_ term: Int64) throws {
    try write("x", by: SessionLease(owner: "b", term: term))
    #expect(try reading()?.fault?.contains("its lease has the term \(term)") == true)
  }

  @Test func aLogThatIsLongIsWantedAsAWhole() throws {
    var long: Set<String> = []
    var count = 0
    while long.isEmpty, count < 1000 {
      long = try logs.append([change(put("p"))])
      count += 1
    }
    #expect(long == ["x"] && count == 257)
    #expect(try logs.append([change(.removeAll, put("p"))]) == [])
    #expect(try logs.append([change(put("q"))]) == [])
    #expect(try reading()?.count == 2)
  }
}

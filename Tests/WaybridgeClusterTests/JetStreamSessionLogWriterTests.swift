import TestSupport
import Testing
import WaySession
import WayTransport
import WayValues

@testable import WaybridgeCluster

/// The contents of a session's log in NATS.
@Suite(.timeLimit(.minutes(1)))
struct JetStreamSessionLogWriterTests {
  private let natsServer: NATSServer
  private let writer: JetStreamSessionLogWriter
  private let lease = SessionLease(owner: "a", term: 2)
  /// The number of times that the server has lost its lease; `nil` if it has none.
  private let leaseLosses: Locked<Int?>

  init() throws {
    natsServer = try NATSServer()
    let losses = Locked<Int?>(0)
    self.leaseLosses = losses
    writer = try JetStreamSessionLogWriter(NATSClusterConfiguration(url: natsServer.url)) {
      losses.withLock { $0 }
    }
  }

  private func change(
    _ steps: SessionChange.ChangeStep..., isEnd: Bool = false, isRelease: Bool = false
  ) -> SessionChange {
    SessionChange(session: "x", lease: lease, steps: steps, isEnd: isEnd, isRelease: isRelease)
  }

  private func put(_ part: String, bytes: Int = 1) -> SessionChange.ChangeStep {
    .put(part: part, bytes: [UInt8](repeating: 7, count: bytes))
  }

  private func storedLog() throws -> JetStreamSessionLogState? {
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    return try connection.sessionLogs(
      of: connection.names.sessionSubject(of: "x"), includesParts: true
    ).first
  }

  @Test(arguments: [(bytes: 1, messages: 1), (bytes: 1 << 20, messages: 3)])
  func snapshotReplacesEarlierMessages(_ size: (bytes: Int, messages: Int)) throws {
    for part in ["a", "b", "c"] { _ = try writer.append([change(put(part))]) }
    #expect(try storedLog()?.messageCount == 3)
    _ = try writer.append([change(.removeAll, put("d", bytes: size.bytes))])
    let whole = try #require(try storedLog())
    #expect(whole.messageCount == size.messages && !whole.hasGaps)
    #expect(whole.parts.all.mapValues(\.count) == ["d": size.bytes])
    _ = try writer.append([change(put("e"))])
    #expect(try storedLog()?.messageCount == size.messages + 1)
    _ = try writer.append([change(isEnd: true)])
    #expect(try writer.deleteEndedLogs())
    #expect(try storedLog() == nil)
  }

  /// Deletes the session's messages, as a NATS server that loses them: all, or those up to a
  /// number.
  private func deleteMessages(through number: UInt64 = .max) throws {
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    try connection.delete(
      connection.names.sessionStream, connection.names.sessionSubject(of: "x"), through: number)
  }

  /// Writes to the session's log after its last message, as another server.
  private func write(_ part: String, by other: SessionLease) throws {
    let connection = try NATSConnection(NATSClusterConfiguration(url: natsServer.url))
    let last =
      try connection.lastMessage(
        in: connection.names.sessionStream, of: connection.names.sessionSubject(of: "x"))?
      .sequence ?? 0
    let change = SessionChange(session: "x", lease: other, steps: [put(part)])
    _ = try connection.publish(
      JetStreamSessionLogEntry.messages(of: change, limit: 1000).map {
        NATSConnection.Publication(
          subject: connection.names.sessionSubject(of: "x"), bytes: $0, previousSequence: last)
      })
  }

  @Test func rewritesSessionAfterDataLoss() throws {
    for part in ["a", "b"] { _ = try writer.append([change(put(part))]) }
    try deleteMessages()
    #expect(throws: NATSClusterError.self) { try writer.append([change(put("c"))]) }
    #expect(writer.consumeDataLoss() && !writer.consumeDataLoss())
    _ = try writer.append([change(.removeAll, put("a"), put("b"), put("c"))])
    let whole = try #require(try storedLog())
    #expect(!whole.hasGaps && whole.parts.all.keys.sorted() == ["a", "b", "c"])
  }

  /// A late write of the previous owner is ignored if the log has one of this server.
  @Test(arguments: [1, 2] as [Int64]) func ignoresLateWritesOfPreviousOwner(_ term: Int64) throws {
    _ = try writer.append([change(put("a"))])
    try write("x", by: SessionLease(owner: "b", term: term))
    #expect(throws: NATSClusterError.self) { try writer.append([change(put("b"))]) }
    #expect(!writer.consumeDataLoss())
    _ = try writer.append([change(.removeAll, put("a"), put("b"))])
    let whole = try #require(try storedLog())
    #expect(whole.lease == lease && whole.parts.all.keys.sorted() == ["a", "b"])
  }

  /// The ways in which a server loses a session.
  enum SessionLossCause: CaseIterable, Sendable {
    case leaseAndMessages, messagesThenTakenOver, leaseRegained, leaseOnly, takenOver
  }

  @Test(arguments: SessionLossCause.allCases) func throwsLeaseLostWhenOwnershipIsUncertain(
    _ loss: SessionLossCause
  ) throws {
    for part in ["a", "b"] { _ = try writer.append([change(put(part))]) }
    let other = SessionLease(owner: "b", term: 3)
    switch loss {
    case .leaseAndMessages: leaseLosses.withLock { $0 = nil }
    case .messagesThenTakenOver:
      try deleteMessages()
      try write("x", by: other)
    case .leaseRegained: leaseLosses.withLock { $0 = 1 }
    case .leaseOnly:
      try write("x", by: SessionLease(owner: "b", term: 1))
      leaseLosses.withLock { $0 = nil }
    case .takenOver:
      try write("x", by: other)
      leaseLosses.withLock { $0 = 1 }
    }
    if loss == .leaseAndMessages || loss == .leaseRegained { try deleteMessages() }
    #expect(throws: SessionStoreError.leaseLost(sessions: ["x"])) {
      try writer.append([change(put("c"))])
    }
    #expect(!writer.consumeDataLoss())
  }

  /// The release was stored, but this server did not learn of it: another server has the session
  /// now.
  @Test func releasedSessionIsNotReclaimed() throws {
    _ = try writer.append([change(put("a"))])
    let other = SessionLease(owner: "b", term: 3)
    try write("x", by: other)
    #expect(throws: SessionStoreError.leaseLost(sessions: ["x"])) {
      try writer.append([change(.removeAll, put("a"), isRelease: true)])
    }
    #expect(try storedLog()?.lease == other)
  }

  @Test(arguments: [0, .min, .max] as [Int64]) func reportsInvalidTermAsFault(_ term: Int64) throws
  {
    try write("x", by: SessionLease(owner: "b", term: term))
    #expect(
      try storedLog()?.unreadableReason?.contains("its lease has the invalid term \(term)") == true)
  }

  @Test func requestsSnapshotOfLongLog() throws {
    var long: Set<String> = []
    var count = 0
    while long.isEmpty, count < 1000 {
      long = try writer.append([change(put("p"))])
      count += 1
    }
    #expect(long == ["x"] && count == 257)
    #expect(try writer.append([change(.removeAll, put("p"))]) == [])
    #expect(try writer.append([change(put("q"))]) == [])
    #expect(try storedLog()?.messageCount == 2)
  }
}

import Testing
import WaySession
import WayValues

@testable import WaybridgeCluster

/// Reading of a session's log, also with missing messages.
struct JetStreamSessionLogReaderTests {
  /// A message of a log: its number, the number of its predecessor, and its content.
  struct StoredLogMessage: Sendable {
    let number: UInt64
    let after: UInt64?
    let steps: [SessionChange.ChangeStep]
  }

  struct LogCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let messages: [StoredLogMessage]
    /// The names of the parts; `nil` if messages are missing.
    let parts: [String]?
  }

  private static func put(_ part: String) -> SessionChange.ChangeStep {
    .put(part: part, bytes: [1])
  }

  static let logs = [
    LogCase(
      testDescription: "from its beginning",
      messages: [
        StoredLogMessage(number: 3, after: 0, steps: [put("a")]),
        StoredLogMessage(number: 9, after: 3, steps: [put("b")]),
      ], parts: ["a", "b"]),
    LogCase(
      testDescription: "a snapshot replaces everything before it",
      messages: [
        StoredLogMessage(number: 9, after: 3, steps: [.removeAll, put("b")]),
        StoredLogMessage(number: 10, after: 9, steps: [put("c")]),
      ], parts: ["b", "c"]),
    LogCase(
      testDescription: "a snapshot hides earlier messages that are still stored",
      messages: [
        StoredLogMessage(number: 3, after: 0, steps: [put("a")]),
        StoredLogMessage(number: 9, after: 3, steps: [.removeAll, put("b")]),
      ], parts: ["b"]),
    LogCase(
      testDescription: "the first is missing",
      messages: [StoredLogMessage(number: 9, after: 3, steps: [put("b")])], parts: nil),
    LogCase(
      testDescription: "one in the middle is missing",
      messages: [
        StoredLogMessage(number: 3, after: 0, steps: [put("a")]),
        StoredLogMessage(number: 10, after: 9, steps: [put("c")]),
        StoredLogMessage(number: 11, after: 10, steps: [put("d")]),
      ], parts: nil),
    LogCase(
      testDescription: "some messages before the snapshot are missing",
      messages: [
        StoredLogMessage(number: 3, after: 0, steps: [put("a")]),
        StoredLogMessage(number: 10, after: 9, steps: [.removeAll, put("c")]),
        StoredLogMessage(number: 11, after: 10, steps: [put("d")]),
      ], parts: ["c", "d"]),
    LogCase(
      testDescription: "the first message is missing, but a snapshot follows",
      messages: [
        StoredLogMessage(number: 9, after: 3, steps: [put("b")]),
        StoredLogMessage(number: 10, after: 9, steps: [.removeAll, put("c")]),
      ], parts: ["c"]),
    LogCase(
      testDescription: "a message after the snapshot is missing",
      messages: [
        StoredLogMessage(number: 9, after: 3, steps: [.removeAll, put("b")]),
        StoredLogMessage(number: 11, after: 10, steps: [put("c")]),
      ], parts: nil),
  ]

  @Test(arguments: logs) func readsOnlyCompleteLogs(_ log: LogCase) {
    var reading = JetStreamSessionLogState(
      of: UTF8Key("x"), on: "x", JetStreamSessionLogCipher(nil), includesParts: true)
    let lease = SessionLease(owner: "a", term: 1)
    for message in log.messages {
      let change = SessionChange(session: "x", lease: lease, steps: message.steps)
      for bytes in JetStreamSessionLogEntry.messages(of: change, limit: 1000) {
        reading.add(bytes, message.number, after: message.after)
      }
    }
    #expect(reading.unreadableReason == nil)
    #expect(reading.hasGaps == (log.parts == nil))
    if let parts = log.parts { #expect(reading.parts.all.keys.sorted() == parts) }
  }

  /// A log with a change, followed by a complete snapshot of the session in several chunks.
  private static let chunkedLog: [(bytes: [UInt8], number: UInt64, after: UInt64)] = {
    let lease = SessionLease(owner: "a", term: 1)
    let large = [UInt8](repeating: 7, count: 200)
    let whole = SessionChange(
      session: "x", lease: lease, steps: [.removeAll, .put(part: "b", bytes: large)])
    let first = SessionChange(session: "x", lease: lease, steps: [put("a")])
    let bytes = [first, whole].flatMap { JetStreamSessionLogEntry.messages(of: $0, limit: 60) }
    return bytes.enumerated().map { place, bytes in
      (bytes, UInt64(place + 1), UInt64(place))
    }
  }()

  private func read(_ places: [Int]) -> JetStreamSessionLogState {
    var reading = JetStreamSessionLogState(
      of: UTF8Key("x"), on: "x", JetStreamSessionLogCipher(nil), includesParts: true)
    for place in places {
      let message = Self.chunkedLog[place]
      reading.add(message.bytes, message.number, after: message.after)
    }
    return reading
  }

  @Test func chunkedSnapshotAppliesWhenComplete() {
    let all = Array(Self.chunkedLog.indices)
    #expect(all.count > 4)
    for dropped in 0...1 {
      let reading = read(Array(all[dropped...]))
      #expect(!reading.hasGaps && reading.parts.all.keys.sorted() == ["b"])
    }
    // Until then the earlier messages are needed.
    let incomplete = read(all.dropLast())
    #expect(!incomplete.hasGaps && incomplete.parts.all.keys.sorted() == ["a"])
    #expect(read(all.dropFirst().dropLast()).hasGaps)
    for missing in all.dropFirst() where missing != all.last {
      let reading = read(all.filter { $0 != missing })
      #expect(reading.hasGaps && reading.unreadableReason == nil)
    }
  }

  /// A message as a server writes it: the writer, its term, the predecessor, and a part. Without a
  /// part it is a takeover of the session.
  struct WrittenMessage: Sendable {
    let owner: String
    let term: Int64
    let after: UInt64
    var part: String?
  }

  struct OwnershipCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Numbered from 1.
    let log: [WrittenMessage]
    let parts: [String]
    let owner: String
  }

  static let ownershipCases = [
    OwnershipCase(
      testDescription: "the first of two competing takeovers wins",
      log: [
        WrittenMessage(owner: "a", term: 1, after: 0, part: "p"),
        WrittenMessage(owner: "b", term: 2, after: 1),
        WrittenMessage(owner: "c", term: 2, after: 1),
        WrittenMessage(owner: "b", term: 2, after: 3, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    OwnershipCase(
      testDescription: "later writes of the previous owner are ignored",
      log: [
        WrittenMessage(owner: "a", term: 1, after: 0, part: "p"),
        WrittenMessage(owner: "b", term: 2, after: 1),
        WrittenMessage(owner: "a", term: 1, after: 1, part: "x"),
        WrittenMessage(owner: "a", term: 1, after: 3, part: "y"),
        WrittenMessage(owner: "b", term: 2, after: 4, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    OwnershipCase(
      testDescription: "the owner need not know of ignored messages",
      log: [
        WrittenMessage(owner: "a", term: 1, after: 0, part: "p"),
        WrittenMessage(owner: "b", term: 2, after: 1),
        WrittenMessage(owner: "a", term: 1, after: 1, part: "x"),
        WrittenMessage(owner: "b", term: 2, after: 2, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    OwnershipCase(
      testDescription: "a takeover without the last change fails",
      log: [
        WrittenMessage(owner: "a", term: 1, after: 0, part: "p"),
        WrittenMessage(owner: "a", term: 1, after: 1, part: "q"),
        WrittenMessage(owner: "b", term: 2, after: 1),
      ], parts: ["p", "q"], owner: "a"),
    OwnershipCase(
      testDescription: "a late change that was given up is ignored",
      log: [
        WrittenMessage(owner: "a", term: 1, after: 0, part: "p"),
        WrittenMessage(owner: "a", term: 1, after: 1, part: "q"),
        WrittenMessage(owner: "a", term: 1, after: 1, part: "x"),
        WrittenMessage(owner: "a", term: 1, after: 3, part: "r"),
      ], parts: ["p", "q", "r"], owner: "a"),
  ]

  @Test(arguments: ownershipCases) func firstOfCompetingMessagesWins(_ contest: OwnershipCase) {
    for keepsParts in [true, false] {
      var reading = JetStreamSessionLogState(
        of: UTF8Key("x"), on: "x", JetStreamSessionLogCipher(nil), includesParts: keepsParts)
      for (place, written) in contest.log.enumerated() {
        let change = SessionChange(
          session: "x", lease: SessionLease(owner: written.owner, term: written.term),
          steps: written.part.map { [Self.put($0)] } ?? [])
        for bytes in JetStreamSessionLogEntry.messages(of: change, limit: 1000) {
          reading.add(bytes, UInt64(place + 1), after: written.after)
        }
      }
      #expect(!reading.hasGaps && reading.unreadableReason == nil)
      #expect(reading.lease?.owner == contest.owner)
      // The next write follows all existing messages.
      #expect(reading.lastSequence == UInt64(contest.log.count))
      #expect(reading.parts.all.keys.sorted() == (keepsParts ? contest.parts : []))
    }
  }

  @Test func endedSessionNeedsNoEarlierMessages() {
    var reading = JetStreamSessionLogState(
      of: UTF8Key("x"), on: "x", JetStreamSessionLogCipher(nil), includesParts: true)
    let end = JetStreamSessionLogEntry(lease: SessionLease(owner: "a", term: 1), isEnd: true)
    reading.add(end.bytes, 9, after: 3)
    #expect(reading.hasEnded && !reading.hasGaps)
  }

  @Test func messageWithoutPredecessorIsAFault() {
    var reading = JetStreamSessionLogState(
      of: UTF8Key("x"), on: "x", JetStreamSessionLogCipher(nil), includesParts: true)
    let entry = JetStreamSessionLogEntry(lease: SessionLease(owner: "a", term: 1))
    reading.add(entry.bytes, 7, after: nil)
    #expect(
      reading.unreadableReason
        == "the message 7 of its log cannot be read: it does not name the message before it")
  }
}

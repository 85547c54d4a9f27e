import Testing
import WaySession
import WayValues

@testable import WaybridgeCluster

/// What is made of a session's log, and what of one of which messages are missing.
struct JetStreamSessionLogReaderTests {
  /// A message of a log: its number, that which it says was before it, and what it says.
  struct Message: Sendable {
    let number: UInt64
    let after: UInt64?
    let steps: [SessionChange.Step]
  }

  struct Log: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let messages: [Message]
    /// The names of the parts; nil where messages are missing.
    let parts: [String]?
  }

  private static func put(_ part: String) -> SessionChange.Step { .put(part: part, bytes: [1]) }

  static let logs = [
    Log(
      testDescription: "from its beginning",
      messages: [
        Message(number: 3, after: 0, steps: [put("a")]),
        Message(number: 9, after: 3, steps: [put("b")]),
      ], parts: ["a", "b"]),
    Log(
      testDescription: "from where it was written as a whole, what was before is gone",
      messages: [
        Message(number: 9, after: 3, steps: [.removeAll, put("b")]),
        Message(number: 10, after: 9, steps: [put("c")]),
      ], parts: ["b", "c"]),
    Log(
      testDescription: "what was before the whole is still there",
      messages: [
        Message(number: 3, after: 0, steps: [put("a")]),
        Message(number: 9, after: 3, steps: [.removeAll, put("b")]),
      ], parts: ["b"]),
    Log(
      testDescription: "the first is missing",
      messages: [Message(number: 9, after: 3, steps: [put("b")])], parts: nil),
    Log(
      testDescription: "one in the middle is missing",
      messages: [
        Message(number: 3, after: 0, steps: [put("a")]),
        Message(number: 10, after: 9, steps: [put("c")]),
        Message(number: 11, after: 10, steps: [put("d")]),
      ], parts: nil),
    Log(
      testDescription: "of what was before the whole some is gone",
      messages: [
        Message(number: 3, after: 0, steps: [put("a")]),
        Message(number: 10, after: 9, steps: [.removeAll, put("c")]),
        Message(number: 11, after: 10, steps: [put("d")]),
      ], parts: ["c", "d"]),
    Log(
      testDescription: "the first is gone, and it was written as a whole later",
      messages: [
        Message(number: 9, after: 3, steps: [put("b")]),
        Message(number: 10, after: 9, steps: [.removeAll, put("c")]),
      ], parts: ["c"]),
    Log(
      testDescription: "one after the whole is missing",
      messages: [
        Message(number: 9, after: 3, steps: [.removeAll, put("b")]),
        Message(number: 11, after: 10, steps: [put("c")]),
      ], parts: nil),
  ]

  @Test(arguments: logs) func aLogIsReadWhereNothingOfItIsMissing(_ log: Log) {
    var reading = SessionReading(of: UTF8Key("x"), keepsParts: true)
    let lease = SessionLease(owner: "a", term: 1)
    for message in log.messages {
      let change = SessionChange(session: "x", lease: lease, steps: message.steps)
      for bytes in JetStreamSessionLogEntry.messages(of: change, limit: 1000) {
        reading.add(bytes, message.number, after: message.after)
      }
    }
    #expect(reading.fault == nil)
    #expect(reading.isHoled == (log.parts == nil))
    if let parts = log.parts { #expect(reading.parts.all.keys.sorted() == parts) }
  }

  /// A session that is written as a whole in pieces, and a change before it.
  private static let inPieces: [(bytes: [UInt8], number: UInt64, after: UInt64)] = {
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

  private func read(_ places: [Int]) -> SessionReading {
    var reading = SessionReading(of: UTF8Key("x"), keepsParts: true)
    for place in places {
      let message = Self.inPieces[place]
      reading.add(message.bytes, message.number, after: message.after)
    }
    return reading
  }

  @Test func aWholeInPiecesCountsOnceItsLastIsThere() {
    let all = Array(Self.inPieces.indices)
    #expect(all.count > 4)
    for gone in 0...1 {
      let reading = read(Array(all[gone...]))
      #expect(!reading.isHoled && reading.parts.all.keys.sorted() == ["b"])
    }
    // Until then what was before is needed.
    let begun = read(all.dropLast())
    #expect(!begun.isHoled && begun.parts.all.keys.sorted() == ["a"])
    #expect(read(all.dropFirst().dropLast()).isHoled)
    for missing in all.dropFirst() where missing != all.last {
      let reading = read(all.filter { $0 != missing })
      #expect(reading.isHoled && reading.fault == nil)
    }
  }

  /// A message of a log as a server writes it: who, by which term, after which, and a part; none where
  /// it takes the session over.
  struct Written: Sendable {
    let by: String
    let term: Int64
    let after: UInt64
    var part: String?
  }

  struct Contest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Numbered from 1.
    let log: [Written]
    let parts: [String]
    let owner: String
  }

  static let contests = [
    Contest(
      testDescription: "of two who take it over, the first has it",
      log: [
        Written(by: "a", term: 1, after: 0, part: "p"), Written(by: "b", term: 2, after: 1),
        Written(by: "c", term: 2, after: 1), Written(by: "b", term: 2, after: 3, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    Contest(
      testDescription: "what its last owner writes after that does not count",
      log: [
        Written(by: "a", term: 1, after: 0, part: "p"), Written(by: "b", term: 2, after: 1),
        Written(by: "a", term: 1, after: 1, part: "x"),
        Written(by: "a", term: 1, after: 3, part: "y"),
        Written(by: "b", term: 2, after: 4, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    Contest(
      testDescription: "what does not count need not have been known",
      log: [
        Written(by: "a", term: 1, after: 0, part: "p"), Written(by: "b", term: 2, after: 1),
        Written(by: "a", term: 1, after: 1, part: "x"),
        Written(by: "b", term: 2, after: 2, part: "q"),
      ], parts: ["p", "q"], owner: "b"),
    Contest(
      testDescription: "who did not know of the last change does not have it",
      log: [
        Written(by: "a", term: 1, after: 0, part: "p"),
        Written(by: "a", term: 1, after: 1, part: "q"), Written(by: "b", term: 2, after: 1),
      ], parts: ["p", "q"], owner: "a"),
    Contest(
      testDescription: "a change that was given up, and came late, does not count",
      log: [
        Written(by: "a", term: 1, after: 0, part: "p"),
        Written(by: "a", term: 1, after: 1, part: "q"),
        Written(by: "a", term: 1, after: 1, part: "x"),
        Written(by: "a", term: 1, after: 3, part: "r"),
      ], parts: ["p", "q", "r"], owner: "a"),
  ]

  @Test(arguments: contests) func ofTwoThatComeAfterTheSameOneTheFirstCounts(_ contest: Contest) {
    for keepsParts in [true, false] {
      var reading = SessionReading(of: UTF8Key("x"), keepsParts: keepsParts)
      for (place, written) in contest.log.enumerated() {
        let change = SessionChange(
          session: "x", lease: SessionLease(owner: written.by, term: written.term),
          steps: written.part.map { [Self.put($0)] } ?? [])
        for bytes in JetStreamSessionLogEntry.messages(of: change, limit: 1000) {
          reading.add(bytes, UInt64(place + 1), after: written.after)
        }
      }
      #expect(!reading.isHoled && reading.fault == nil)
      #expect(reading.lease?.owner == contest.owner)
      // What is written next goes after all that is there.
      #expect(reading.last == UInt64(contest.log.count))
      #expect(reading.parts.all.keys.sorted() == (keepsParts ? contest.parts : []))
    }
  }

  @Test func ofOneThatIsOverNothingElseIsNeeded() {
    var reading = SessionReading(of: UTF8Key("x"), keepsParts: true)
    let end = JetStreamSessionLogEntry(lease: SessionLease(owner: "a", term: 1), isEnd: true)
    reading.add(end.bytes, 9, after: 3)
    #expect(reading.isOver && !reading.isHoled)
  }

  @Test func whatNoServerHasWrittenIsAFault() {
    var reading = SessionReading(of: UTF8Key("x"), keepsParts: true)
    let entry = JetStreamSessionLogEntry(lease: SessionLease(owner: "a", term: 1))
    reading.add(entry.bytes, 7, after: nil)
    #expect(
      reading.fault
        == "the message 7 of its log cannot be read: it does not say after which it was written")
  }
}

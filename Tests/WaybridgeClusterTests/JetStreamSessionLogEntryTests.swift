import Testing
import WaySession

@testable import WaybridgeCluster

struct JetStreamSessionLogEntryTests {
  private static let steps: [SessionChange.ChangeStep] = [
    .removeAll, .put(part: "p", bytes: [0, 255, 1]), .put(part: "", bytes: []),
    .remove(part: "ä"), .removeRange(from: "a", through: "z"),
  ]

  private func decode(together messages: [[UInt8]]) throws -> [JetStreamSessionLogEntry] {
    try messages.map { bytes throws(ByteDecodingError) in try JetStreamSessionLogEntry(bytes) }
  }

  @Test(arguments: [1, 20, 25, 60, 1000])
  func changeRoundTripsThroughMessages(_ limit: Int) throws {
    let lease = SessionLease(owner: "a", term: 7)
    let change = SessionChange(session: "x", lease: lease, steps: Self.steps)
    let messages = JetStreamSessionLogEntry.messages(of: change, limit: limit)
    #expect(limit == 1 || messages.allSatisfy { $0.count <= limit })
    let entries = try decode(together: messages)
    #expect(entries.allSatisfy { $0.lease == lease && !$0.isEnd })
    #expect(
      entries.map { $0.fragment.contains(.first) } == [true]
        + entries.dropFirst().map { _ in false })
    #expect(
      entries.map { $0.fragment.contains(.last) } == entries.dropLast().map { _ in false } + [true])
    #expect(
      try JetStreamSessionLogEntry.decodeSteps(entries.flatMap { Array($0.body) }) == Self.steps)
  }

  @Test func encodesEndAndTakeover() throws {
    let lease = SessionLease(owner: "b", term: 2)
    let end = SessionChange(session: "x", lease: lease, isEnd: true)
    let entry = try JetStreamSessionLogEntry(
      JetStreamSessionLogEntry.messages(of: end, limit: 100)[0])
    #expect(entry.isEnd && entry.fragment == [.first, .last] && entry.body.isEmpty)
    let takeover = try JetStreamSessionLogEntry(
      JetStreamSessionLogEntry(lease: lease, fragment: []).bytes)
    #expect(takeover.fragment == [] && takeover.lease == lease)
  }

  @Test func invalidMessageThrowsReason() throws {
    let whole = JetStreamSessionLogEntry.messages(
      of: SessionChange(session: "x", lease: SessionLease(owner: "a"), steps: Self.steps),
      limit: 1000)[0]
    for count in 0..<19 {
      #expect(throws: ByteDecodingError.self) {
        try JetStreamSessionLogEntry(Array(whole.prefix(count)))
      }
    }
    for count in 20..<whole.count {
      let entry = try JetStreamSessionLogEntry(Array(whole.prefix(count)))
      // A truncated step, or the start of a complete one.
      let steps = try? JetStreamSessionLogEntry.decodeSteps(Array(entry.body))
      #expect(steps.map { Self.steps.starts(with: $0) && $0.count < Self.steps.count } ?? true)
    }
    #expect(throws: ByteDecodingError("its format is 9, and this version reads only 1")) {
      try JetStreamSessionLogEntry([9] + whole.dropFirst())
    }
    #expect(throws: ByteDecodingError("it has the unknown flags 16")) {
      try JetStreamSessionLogEntry([1, 16] + whole.dropFirst(2))
    }
    #expect(throws: ByteDecodingError.self) {
      try JetStreamSessionLogEntry.decodeSteps([0] + Array(repeating: 255, count: 20))
    }
    #expect(throws: ByteDecodingError("it has a step of the unknown kind 7")) {
      try JetStreamSessionLogEntry.decodeSteps([7])
    }
  }
}

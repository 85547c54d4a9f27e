import Testing
import WaySession

@testable import WaybridgeCluster

struct JetStreamSessionLogEntryTests {
  private static let steps: [SessionChange.Step] = [
    .removeAll, .put(part: "p", bytes: [0, 255, 1]), .put(part: "", bytes: []),
    .remove(part: "ä"), .removeRange(from: "a", through: "z"),
  ]

  private func put(together messages: [[UInt8]]) throws -> [JetStreamSessionLogEntry] {
    try messages.map { bytes throws(ByteFault) in try JetStreamSessionLogEntry(bytes) }
  }

  @Test(arguments: [1, 20, 25, 60, 1000])
  func aChangeComesBackFromItsMessages(_ limit: Int) throws {
    let lease = SessionLease(owner: "a", term: 7)
    let change = SessionChange(session: "x", lease: lease, steps: Self.steps)
    let messages = JetStreamSessionLogEntry.messages(of: change, limit: limit)
    #expect(limit == 1 || messages.allSatisfy { $0.count <= limit })
    let entries = try put(together: messages)
    #expect(entries.allSatisfy { $0.lease == lease && !$0.isEnd })
    #expect(
      entries.map { $0.piece.contains(.first) } == [true] + entries.dropFirst().map { _ in false })
    #expect(
      entries.map { $0.piece.contains(.last) } == entries.dropLast().map { _ in false } + [true])
    #expect(try JetStreamSessionLogEntry.steps(entries.flatMap { Array($0.body) }) == Self.steps)
  }

  @Test func anEndAndATakeoverSaySo() throws {
    let lease = SessionLease(owner: "b", term: 2)
    let end = SessionChange(session: "x", lease: lease, isEnd: true)
    let entry = try JetStreamSessionLogEntry(
      JetStreamSessionLogEntry.messages(of: end, limit: 100)[0])
    #expect(entry.isEnd && entry.piece == [.first, .last] && entry.body.isEmpty)
    let taking = try JetStreamSessionLogEntry(
      JetStreamSessionLogEntry(lease: lease, piece: []).bytes)
    #expect(taking.piece == [] && taking.lease == lease)
  }

  @Test func whatIsNoMessageOfALogSaysWhy() throws {
    let whole = JetStreamSessionLogEntry.messages(
      of: SessionChange(session: "x", lease: SessionLease(owner: "a"), steps: Self.steps),
      limit: 1000)[0]
    for count in 0..<19 {
      #expect(throws: ByteFault.self) { try JetStreamSessionLogEntry(Array(whole.prefix(count))) }
    }
    for count in 20..<whole.count {
      let entry = try JetStreamSessionLogEntry(Array(whole.prefix(count)))
      // A step that is cut off, or the beginning of a whole one.
      let steps = try? JetStreamSessionLogEntry.steps(Array(entry.body))
      #expect(steps.map { Self.steps.starts(with: $0) && $0.count < Self.steps.count } ?? true)
    }
    #expect(throws: ByteFault("it has the form 9, and this version reads 1")) {
      try JetStreamSessionLogEntry([9] + whole.dropFirst())
    }
    #expect(throws: ByteFault("it has the flags 16")) {
      try JetStreamSessionLogEntry([1, 16] + whole.dropFirst(2))
    }
    #expect(throws: ByteFault.self) {
      try JetStreamSessionLogEntry.steps([0] + Array(repeating: 255, count: 20))
    }
    #expect(throws: ByteFault("it has a step of the kind 7")) {
      try JetStreamSessionLogEntry.steps([7])
    }
  }

  @Test(arguments: ["s-Ab_9", "", "a.b", "*", ">", " ", "ä", "=", "x'; --", "\u{0}"])
  func anySessionHasASubjectOfItsOwn(_ id: String) throws {
    let subject = Subject.of(id)
    #expect(subject.dropFirst("waybridge.session.".count).allSatisfy { !".*> \u{0}".contains($0) })
    #expect(Subject.session(subject) == id)
  }

  @Test func otherSubjectsAreNoSessions() {
    for subject in ["waybridge.server.a", "waybridge.session.=", "waybridge.session.=zz"] {
      #expect(Subject.session(subject) == nil, "\(subject)")
    }
  }
}

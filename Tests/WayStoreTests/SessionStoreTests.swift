import TestSupport
import Testing
import WaySession
import WayStore

/// The behavior of all session stores: one table of scenarios, run on each store.
@Suite(.timeLimit(.minutes(1)))
struct SessionStoreTests {
  struct Scenario: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let operations: [StoreOperation]
    /// The result of a later load by `z`.
    let expected: [String]

    init(_ description: String, _ acts: [StoreOperation], _ expected: String...) {
      testDescription = description
      self.operations = acts
      self.expected = expected
    }
  }

  static let scenarios = [
    Scenario("nothing", []),
    Scenario("nothing changes", [.batch([])]),
    Scenario(
      "the first change begins a session", [.change("x", [.put("p", "1"), .put("q", "2")])],
      "x z2 p=1 q=2"),
    Scenario("a session without parts", [.change("x", [])], "x z2"),
    Scenario(
      "a part is replaced", [.change("x", [.put("p", "1")]), .change("x", [.put("p", "22")])],
      "x z2 p=22"),
    Scenario("bytes may be none", [.change("x", [.put("p", ""), .put("", "1")])], "x z2 =1 p="),
    Scenario(
      "steps count in their order",
      [
        .change(
          "x",
          [
            .put("p", "1"), .remove(part: "p"), .put("q", "1"), .removeAll, .put("r", "1"),
            .put("r", "2"), .remove(part: "no"),
          ])
      ], "x z2 r=2"),
    Scenario(
      "a range has both its ends, and compares bytes",
      [
        .change(
          "x",
          ["f/1/09", "f/1/10", "f/1/11", "f/1/12", "f/10", "f/1", "g", "F/1/10"].map {
            .put($0, "")
          }),
        .change("x", [.removeRange(from: "f/1/10", through: "f/1/11")]),
      ], "x z2 F/1/10= f/1= f/1/09= f/1/12= f/10= g="),
    Scenario(
      "a range ends before what is longer",
      [
        .change("x", [.put("a", ""), .put("ab", ""), .put("b", "")]),
        .change("x", [.removeRange(from: "a", through: "a")]),
      ], "x z2 ab= b="),
    Scenario(
      "the upper end before the lower one is no range",
      [.change("x", [.put("m", "")]), .change("x", [.removeRange(from: "z", through: "a")])],
      "x z2 m="),
    Scenario(
      "beyond ASCII a range compares bytes, not letters",
      [
        .change("x", [.put("z", ""), .put("ä", ""), .put("€", ""), .put("😀", "")]),
        .change("x", [.removeRange(from: "ä", through: "€")]),
      ], "x z2 z= 😀="),
    Scenario(
      "a range is of one session",
      [
        .batch([.change("x", [.put("p", "")]), .change("y", [.put("p", "")])]),
        .change("x", [.removeRange(from: "", through: "~"), .put("n", "")]), .change("y", []),
      ], "x z2 n=", "y z2 p="),
    Scenario(
      "a name may hold what means something in SQL",
      [
        .change("x'; --", [.put("a%_'\"\u{0}b", "1"), .put("a", "2")]),
        .change("x'; --", [.remove(part: "a")]),
      ], "x'; -- z2 a%_'\"\u{0}b=1"),
    Scenario(
      "sessions are loaded in order of creation",
      [
        .batch([.change("y", []), .change("x", [])]), .change("w", []),
        .change("y", [.put("p", "")]),
      ], "y z2 p=", "x z2", "w z2"),
    Scenario(
      "an end removes all of a session, and of no other",
      [
        .batch([.change("x", [.put("p", "1")]), .change("y", [.put("p", "2")])]), .end("x"),
      ], "y z2 p=2"),
    Scenario("the end of an unknown session", [.end("x")]),
    Scenario(
      "a session begins and ends at once, and another one begins",
      [.batch([.change("x", [.put("p", "1")]), .end("x"), .change("x", [.put("q", "2")])])],
      "x z2 q=2"),
    Scenario(
      "a new lease counts after a load, the old one no more",
      [
        .change("x", [.put("p", "1")]), .load("b"),
        .change("x", [.put("p", "2")], term: 2, owner: "b"),
        .leaseLost("x", [.change("x", [.put("p", "3")])]),
        .leaseLost("x", [.change("x", [.put("p", "4")], term: 2, owner: "a")]),
        .leaseLost("x", [.change("x", [.put("p", "5")], term: 3, owner: "b")]),
        .leaseLost("x", [.end("x")]),
      ], "x z3 p=2"),
    Scenario(
      "each load is a term more", [.change("x", []), .load("a"), .load("a"), .load("b")], "x z5"),
    Scenario(
      "if one lease is lost, no change is stored",
      [
        .change("x", [.put("p", "1")]), .load("b"), .change("y", [.put("p", "1")]),
        .leaseLost(
          "x",
          [
            .change("y", [.put("p", "2"), .put("q", "")]), .change("new", [.put("p", "")]),
            .end("y"),
            .change("x", [.put("p", "2")]),
          ]),
        .change("y", [.put("r", "")]),
      ], "x z3 p=1", "y z2 p=1 r="),
    Scenario(
      "all parts go, the session and its lease stay",
      [
        .change("x", [.put("p", "1")]), .load("a"), .change("x", [.removeAll], term: 2),
        .leaseLost("x", [.change("x", [.put("p", "2")])]),
      ], "x z3"),
  ]

  @Test(arguments: scenarios, StoreKind.allCases)
  func scenarioLeavesExpectedSessions(_ scenario: Scenario, _ kind: StoreKind) async throws {
    let open = try kind.open()
    for act in scenario.operations {
      switch act {
      case .change, .end, .batch: try await open.store.append(act.changes)
      case .leaseLost(let session, let acts):
        await #expect(throws: SessionStoreError.leaseLost(sessions: [session])) {
          try await open.store.append(acts.flatMap(\.changes))
        }
      case .load(let owner): _ = try await open.store.load(as: owner)
      }
    }
    #expect(try await open.store.load(as: "z").map(summary) == scenario.expected)
    await open.store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `stores every byte`(_ kind: StoreKind) async throws {
    let open = try kind.open()
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let lease = SessionLease(owner: "a")
    try await open.store.append([
      SessionChange(session: "x", lease: lease, steps: [.put(part: "p", bytes: bytes)])
    ])
    #expect(try await open.store.load(as: "z")[0].parts == ["p": bytes])
  }

  @Test(arguments: StoreKind.allCases)
  func `stores concurrent appends of many tasks`(_ kind: StoreKind) async throws {
    let open = try kind.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for session in 0..<20 {
        group.addTask {
          for part in 0..<20 {
            try await open.store.append(
              StoreOperation.change("\(session)", [.put("\(part)", "\(session * part)")]).changes)
          }
        }
      }
      try await group.waitForAll()
    }
    let stored = try await open.store.load(as: "z")
    #expect(stored.count == 20)
    for session in stored {
      let number = try #require(Int(session.id))
      #expect(session.parts.count == 20)
      for (part, bytes) in session.parts {
        #expect(String(decoding: bytes, as: UTF8.self) == "\(number * (try #require(Int(part))))")
      }
    }
  }

  @Test func `a memory store fails and blocks on request`() async throws {
    struct StoreFullError: Error {}
    let store = MemorySessionStore()
    await store.fail(with: StoreFullError())
    await #expect(throws: StoreFullError.self) {
      try await store.append(StoreOperation.change("x", []).changes)
    }
    await store.fail(with: nil)
    await store.pause()
    async let first = store.append(StoreOperation.change("x", [.put("p", "1")]).changes)
    await store.waitForPendingAppend()
    #expect(await store.sessions.isEmpty)
    await store.resume()
    _ = try await first
    #expect(await store.sessions.map(summary) == ["x a1 p=1"])
  }
}

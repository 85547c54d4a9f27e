import Foundation
import TestSupport
import Testing
import WayPatterns
import WayRouting
import WayStore
import WayValues

/// An idempotent call takes effect once.
@Suite(.timeLimit(.minutes(1)))
struct SQLiteEffectsTests {
  private static let schema = """
    CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT UNIQUE);
    CREATE TABLE IF NOT EXISTS lines (item INTEGER REFERENCES orders (id));
    """
  private let folder: TestFolder
  private var path: String { folder.path("app.db") }

  private struct EffectFailure: Error {}

  init() throws {
    folder = try TestFolder()
  }

  private func open() throws -> SQLiteEffects { try SQLiteEffects(at: path, schema: Self.schema) }

  private func call(_ key: String?, session: String = "s", owner: String? = nil) throws -> Call {
    Call(
      uri: try RouteURI("x://order"), params: [:], exts: [:], navigator: UnavailableNavigator(),
      deadline: nil,
      key: key.map { RouterIdempotencyKey(session: session, owner: owner, text: $0) },
      progress: { _ in })
  }

  private func order(
    _ item: String, _ key: String?, _ effects: SQLiteEffects
  ) async throws -> Value {
    try await effects.once(try call(key)) { database in
      try database.execute("INSERT INTO orders (item) VALUES (?)", .string(item))
      return .object(
        try database.rows("SELECT id, item FROM orders WHERE item = ?", .string(item))[0])
    }
  }

  private func items(_ effects: SQLiteEffects) async throws -> Value {
    try await effects.once(try call(nil)) { database in
      .array(try database.rows("SELECT item FROM orders ORDER BY id").compactMap { $0["item"] })
    }
  }

  @Test func `a repeated key returns the first result only`() async throws {
    let effects = try open()
    let first = try await order("tea", "k", effects)
    #expect(first == ["id": 1, "item": "tea"])
    #expect(try await order("coffee", "k", effects) == first)
    #expect(try await order("milk", "k2", effects) == ["id": 2, "item": "milk"])
    #expect(try await items(effects) == ["tea", "milk"])
  }

  @Test func `calls without a key run every time`() async throws {
    let effects = try open()
    _ = try await order("tea", nil, effects)
    _ = try await order("milk", nil, effects)
    #expect(try await items(effects) == ["tea", "milk"])
  }

  @Test func `keys are scoped by session and owner`() async throws {
    let effects = try open()
    let calls = [
      try call("k"), try call("k", session: "t"), try call("k", owner: "o"), try call("s/k"),
      try call("k", owner: ""), try call("k", session: "s/o"), try call("o/k"),
    ]
    for (number, call) in calls.enumerated() {
      #expect(
        try await effects.once(call) { _ in .integer(Int64(number)) } == .integer(Int64(number)))
    }
  }

  @Test func `an error rolls back and frees the key`() async throws {
    let effects = try open()
    await #expect(throws: EffectFailure.self) {
      try await effects.once(try call("k")) { database in
        try database.execute("INSERT INTO orders (item) VALUES ('tea')")
        throw EffectFailure()
      }
    }
    #expect(try await items(effects) == [])
    #expect(try await order("milk", "k", effects) == ["id": 1, "item": "milk"])
  }

  @Test func `an effect and its key survive a crash`() async throws {
    let effects = try open()
    let result = try await order("tea", "k", effects)
    let copy = folder.path("copy.db")
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
    }
    let other = try SQLiteEffects(at: copy, schema: Self.schema)
    #expect(try await order("coffee", "k", other) == result)
    #expect(try await items(other) == ["tea"])
  }

  @Test func `concurrent calls with one key run once`() async throws {
    let effects = [try open(), try open()]
    let results = try await withThrowingTaskGroup(of: Value.self) { group in
      for number in 0..<20 {
        group.addTask { try await order("item \(number)", "k", effects[number % 2]) }
      }
      return try await group.reduce(into: Set<Value>()) { $0.insert($1) }
    }
    #expect(results.count == 1)
    #expect(try await items(effects[0]).array?.count == 1)
  }

  @Test func `a key expires after its retention time`() async throws {
    let clock = ManualClock()
    let effects = try SQLiteEffects(
      at: path, schema: Self.schema, keyLifetime: .seconds(60), now: { clock.milliseconds })
    let first = try await order("tea", "k", effects)
    clock.advance(60_000)
    #expect(try await order("coffee", "k", effects) == first)
    clock.advance(1)
    #expect(try await order("coffee", "k", effects) == ["id": 2, "item": "coffee"])
  }

  @Test(arguments: [
    "COMMIT", "ROLLBACK", "BEGIN", "END", " commit /* now */", "/* x */ rollback",
  ])
  func `rejects transaction control statements`(sql: String) async throws {
    let effects = try open()
    let error = await #expect(throws: SQLiteError.self) {
      try await effects.once(try call("k")) { database in
        try database.execute("INSERT INTO orders (item) VALUES ('tea')")
        try database.execute(sql)
        return .null
      }
    }
    #expect(error?.code == "SQLITE_AUTH")
    #expect(try await items(effects) == [])
  }

  @Test func `fails after the transaction was rolled back`() async throws {
    let effects = try open()
    _ = try await order("tea", nil, effects)
    await #expect(throws: SQLiteError.self) {
      try await effects.once(try call("k")) { database in
        try database.execute("INSERT INTO orders (item) VALUES ('milk')")
        _ = try? database.execute("INSERT OR ROLLBACK INTO orders (item) VALUES ('tea')")
        _ = try? database.execute("INSERT INTO orders (item) VALUES ('by itself')")
        return .null
      }
    }
    #expect(try await items(effects) == ["tea"])
  }

  @Test func `allows savepoints`() async throws {
    let effects = try open()
    _ = try await effects.once(try call("k")) { database in
      try database.execute("INSERT INTO orders (item) VALUES ('tea')")
      try database.execute("SAVEPOINT here")
      try database.execute("INSERT INTO orders (item) VALUES ('milk')")
      try database.execute("ROLLBACK TO here")
      return .null
    }
    #expect(try await items(effects) == ["tea"])
  }

  @Test(
    arguments: [
      (.null, .null), (true, 1), (false, 0), (7, 7), (.integer(.min), .integer(.min)), (1.5, 1.5),
      (.string("ä\u{0}b"), .string("ä\u{0}b")), ("", ""), ([1, "a"], "[1,\"a\"]"),
      (["a": nil], "{\"a\":null}"),
    ] as [(Value, Value)])
  func `values round trip through the database`(value: Value, expected: Value) async throws {
    let effects = try open()
    let back = try await effects.once(try call(nil)) { database in
      .object(try database.rows("SELECT ? AS value", value)[0])
    }
    #expect(back == ["value": expected])
  }

  @Test(arguments: [.null, 1.0, "ä", [1, [2]], ["b": 1, "a": 1e300]] as [Value])
  func `a repeated key returns an equal result`(value: Value) async throws {
    let effects = try open()
    for _ in 1...2 { #expect(try await effects.once(try call("k")) { _ in value } == value) }
  }

  @Test(arguments: [
    ("SELECT x'00' AS b", "the column \"b\" holds bytes"),
    ("SELECT 1; SELECT 2", "only one statement"),
    ("SELECT ?", "the statement has 1 parameters, and 0 were given"), ("", "there is no statement"),
    ("SELECT unknown", "no such column: unknown"), ("SELECT 1\u{0}", "only one statement"),
    ("INSERT INTO lines VALUES (7)", "FOREIGN KEY constraint failed"),
  ])
  func `reports invalid statements`(sql: String, reason: String) async throws {
    let effects = try open()
    let error = await #expect(throws: SQLiteError.self) {
      try await effects.once(try call(nil)) { database in
        .array(try database.rows(sql).map(Value.object))
      }
    }
    #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
  }

  @Test func `execute returns the number of changed rows`() async throws {
    let effects = try open()
    let count = try await effects.once(try call(nil)) { database in
      try database.execute("INSERT INTO orders (item) VALUES ('a'), ('b'), ('c')")
      return .integer(Int64(try database.execute("DELETE FROM orders WHERE item > ?", "a")))
    }
    #expect(count == 2)
  }

  @Test func `rejects an invalid schema and a missing folder`() throws {
    #expect(throws: SQLiteError.self) { try SQLiteEffects(at: path, schema: "CREATE TABLE") }
    #expect(throws: SQLiteError.self) {
      try SQLiteEffects(at: path, schema: "CREATE TABLE a (b); COMMIT; CREATE TABLE")
    }
    let error = #expect(throws: SQLiteError.self) { try SQLiteEffects(at: folder.path("no/db")) }
    #expect(error?.reason == "the file cannot be created: No such file or directory")
  }

  @Test func `a cancelled task runs nothing`() async throws {
    let effects = try open()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await order("tea", "k", effects)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await items(effects) == [])
  }
}

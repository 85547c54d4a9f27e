import Glibc
import WayRPC
import WayRouting
import WayValues

/// A database of the app's own, in which a task's effect and the key of its call are committed
/// together: a call with a key (``Call/key``) has its effect exactly once, also where the server is
/// killed in the middle of it and the client asks again.
///
/// ```swift
/// let orders = try SQLiteEffects(
///   at: "/var/lib/shop/orders.db",
///   schema: "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT)")
/// try router.task("action://order/:item") { call in
///   try await orders.once(call) { database in
///     try database.execute("INSERT INTO orders (item) VALUES (?)", call.params["item"] ?? .null)
///     return .object(try database.rows("SELECT last_insert_rowid() AS id")[0])
///   }
/// }
/// ```
///
/// What was committed outlives a crash of the process and of the machine (journal_mode WAL,
/// synchronous FULL). All work runs on a thread of its own, one call after the other. Others may use
/// the database meanwhile; they are waited for, up to 5 seconds.
public actor SQLiteEffects {
  private let queue = SQLiteWorkQueue("waybridge.effects")
  private let connection: SQLiteConnection
  /// Milliseconds.
  private let time: Int64
  /// Milliseconds since 1970-01-01 UTC.
  private let now: @Sendable () -> Int64

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Opens a database, and makes it where there is none, readable by its owner alone; blocks
  /// meanwhile. Foreign keys are enforced. The results of calls are kept in its table
  /// `waybridge_calls`.
  ///
  /// Throws ``SQLiteError``, which says what to do: where the file cannot be written or is damaged,
  /// where the disk is full, and where the schema is wrong.
  ///
  /// - Parameters:
  ///   - path: the file, in a folder that is there.
  ///   - schema: statements that make what is missing, run at every start, in one transaction.
  ///   - time: how long the result of a key is kept after the call, at most a century. A call that
  ///     is made again later has its effect again.
  public init(
    at path: String, schema: String = "", keepingKeysFor time: Duration = .seconds(7 * 86_400)
  ) throws {
    try self.init(at: path, schema: schema, keepingKeysFor: time, now: Self.wallClock)
  }

  /// With a clock to move.
  package init(
    at path: String, schema: String = "", keepingKeysFor time: Duration,
    now: @escaping @Sendable () -> Int64
  ) throws {
    let connection = try SQLiteConnection(making: path, patience: .seconds(5))
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      throw SQLiteError(connection.path, "there can be no write-ahead log (journal_mode = WAL)")
    }
    try connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
    try connection.transaction {
      try connection.execute(
        """
        CREATE TABLE IF NOT EXISTS waybridge_calls (
          key TEXT PRIMARY KEY,
          result TEXT NOT NULL,
          -- Milliseconds since 1970-01-01 UTC.
          at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS waybridge_calls_at ON waybridge_calls (at);
        """)
      try connection.guarded { try connection.execute(schema) }
    }
    self.connection = connection
    self.time = min(max(time, .zero), .seconds(100 * 366 * 86_400)).components.seconds * 1_000
    self.now = now
  }

  /// Runs `work` in a transaction and commits it durably, with its value as the result of the
  /// call's key; gives that. Where the key has a result already, gives this, and `work` is not run.
  /// A call without a key is just run in a transaction.
  ///
  /// Once for a call: a second `once` with the same call would be given the result of the first.
  ///
  /// Throws what `work` throws, after which nothing of it is kept and the key is free; and
  /// ``SQLiteError`` where the database cannot be used, `CancellationError` where the task was
  /// cancelled before it began. Nothing is kept then either.
  ///
  /// - Parameter work: runs on the thread of the database, so it should not wait for anything else.
  public func once(
    _ call: Call, _ work: sending (borrowing SQLTransaction) throws -> Value
  ) throws -> Value {
    try Task.checkCancellation()
    return try connection.transaction {
      guard let key = call.key?.description else { return try run(work) }
      let now = now()
      try connection.run("DELETE FROM waybridge_calls WHERE at < ?", .integer(now - time))
      let kept = try connection.statement("SELECT result FROM waybridge_calls WHERE key = ?")
        .rows([.text(key)]) { $0.text(0) }.first
      if let kept { return try JSON.parse(kept) }
      let value = try run(work)
      try connection.run(
        "INSERT INTO waybridge_calls (key, result, at) VALUES (?, ?, ?)",
        .text(key), .text(try JSON.text(value)), .integer(now))
      return value
    }
  }

  private func run(_ work: (borrowing SQLTransaction) throws -> Value) throws -> Value {
    let transaction = SQLTransaction(connection)
    let value = try connection.guarded { try work(transaction) }
    // What has rolled it back may have been caught.
    try transaction.check()
    return value
  }

  private static let wallClock: @Sendable () -> Int64 = {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

import Glibc
import WayRPC
import WayRouting
import WayValues

/// A database of the app that commits a task's effect together with the idempotency key of its
/// call. A call with a key (``Call/key``) has its effect exactly once, even if the server is killed
/// while it runs and the client retries.
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
/// A commit survives a crash of the process or the machine (journal_mode WAL, synchronous FULL).
/// All work runs on a separate thread, one call after the other. Other programs may use the
/// database meanwhile; the actor waits for them for up to 5 seconds.
public actor SQLiteEffects {
  private let queue = SQLiteWorkQueue("waybridge.effects")
  private let connection: SQLiteConnection
  /// In milliseconds.
  private let keyLifetime: Int64
  /// Returns the time in milliseconds since 1970-01-01 UTC.
  private let now: @Sendable () -> Int64

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Opens a database, and creates it if it is missing, readable only by its owner. Blocks the
  /// thread. Foreign keys are enforced. The table `waybridge_calls` holds the results of calls.
  ///
  /// Throws ``SQLiteError``, which describes the solution, in these cases: the file is not writable
  /// or is damaged, the disk is full, or the schema is invalid.
  ///
  /// - Parameters:
  ///   - path: The file, in an existing folder.
  ///   - schema: Statements that create missing tables, run at every start, in one transaction.
  ///   - time: How long the result of a key is kept after the call, at most a century. A call
  ///     that is repeated later has its effect again.
  public init(
    at path: String, schema: String = "", keyLifetime time: Duration = .seconds(7 * 86_400)
  ) throws {
    try self.init(at: path, schema: schema, keyLifetime: time, now: Self.wallClock)
  }

  /// Uses a clock that tests can set.
  package init(
    at path: String, schema: String = "", keyLifetime time: Duration,
    now: @escaping @Sendable () -> Int64
  ) throws {
    let connection = try SQLiteConnection(making: path, busyTimeout: .seconds(5))
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      throw SQLiteError(
        connection.path, "the file does not support a write-ahead log (journal_mode = WAL)")
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
    self.keyLifetime =
      min(max(time, .zero), .seconds(100 * 366 * 86_400)).components.seconds * 1_000
    self.now = now
  }

  /// Runs `work` in a transaction, and commits its value as the result of the call's key. Returns
  /// that value. If the key already has a result, returns that, without running `work`. For a call
  /// without a key, it just runs `work` in a transaction.
  ///
  /// Use it once per call: a second `once` with the same call would return the result of the first.
  ///
  /// Throws the error of `work`; the transaction is then rolled back, and the key is free. Throws
  /// ``SQLiteError`` if the database cannot be used, and `CancellationError` if the task was
  /// cancelled before. Nothing is stored in these cases either.
  ///
  /// - Parameter work: Runs on the thread of the database, so it should not wait for anything
  ///   else.
  public func once(
    _ call: Call, _ work: sending (borrowing SQLTransaction) throws -> Value
  ) throws -> Value {
    try Task.checkCancellation()
    return try connection.transaction {
      guard let key = call.key?.description else { return try run(work) }
      let now = now()
      try connection.run("DELETE FROM waybridge_calls WHERE at < ?", .integer(now - keyLifetime))
      let stored = try connection.statement("SELECT result FROM waybridge_calls WHERE key = ?")
        .rows([.text(key)]) { $0.text(0) }.first
      if let stored { return try JSON.parse(stored) }
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
    // The work may have caught the error that rolled the transaction back.
    try transaction.check()
    return value
  }

  private static let wallClock: @Sendable () -> Int64 = {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

import CWaySQLite
import Glibc
import WayValues

/// A connection to a database file. It belongs to one thread at a time. SQLite pointers do not
/// leave it and its statements.
final class SQLiteConnection {
  /// Maximum number of cached statements.
  private static let maxStatements = 64

  /// The path of the database file.
  let path: String
  private let database: OpaquePointer
  private var statements: [UTF8Key: SQLiteStatement] = [:]
  private let transactionGuard = TransactionGuard()

  /// Whether statements must not begin or end a transaction now.
  private final class TransactionGuard {
    var isActive = false
  }

  /// Opens a file (sqlite3_open_v2). Creates it if it is missing, readable only by its owner. An
  /// existing file keeps its mode.
  ///
  /// - Parameter busyTimeout: How long to wait for another process (sqlite3_busy_timeout). This
  ///   blocks the thread.
  convenience init(making path: String, busyTimeout: Duration) throws(SQLiteError) {
    // O_EXCL prevents opening an existing file. Closing it again would release this process's locks
    // on it (fcntl, F_SETLK).
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      Glibc.close(descriptor)
    } else if errno != EEXIST {
      throw SQLiteError(path, "the file cannot be created", errno: errno)
    }
    try self.init(path, busyTimeout: busyTimeout)
  }

  /// Opens an existing file for reading and writing (sqlite3_open_v2).
  init(_ path: String, busyTimeout: Duration) throws(SQLiteError) {
    var database: OpaquePointer?
    // The owner ensures that one thread at a time uses the connection.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(Self.filePath(path), &database, flags, nil)
    guard let database else {
      throw SQLiteError(path, code: SQLITE_NOMEM, text: "out of memory")
    }
    guard code == SQLITE_OK else {
      let error = SQLiteError(
        path, code: code, text: String(cString: sqlite3_errmsg(database)),
        system: sqlite3_system_errno(database))
      sqlite3_close_v2(database)
      throw error
    }
    // SQLite opens a file that is not writable read-only (sqlite3_db_readonly).
    guard sqlite3_db_readonly(database, "main") == 0 else {
      sqlite3_close_v2(database)
      throw SQLiteError(path, "the file cannot be written", errno: EACCES)
    }
    self.path = path
    self.database = database
    let (seconds, attoseconds) = busyTimeout.components
    sqlite3_busy_timeout(database, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    sqlite3_set_authorizer(
      database,
      { context, action, _, _, _, _ in
        guard action == SQLITE_TRANSACTION, let context else { return SQLITE_OK }
        let transactionGuard = Unmanaged<TransactionGuard>.fromOpaque(context).takeUnretainedValue()
        return transactionGuard.isActive ? SQLITE_DENY : SQLITE_OK
      }, Unmanaged.passUnretained(transactionGuard).toOpaque())
  }

  /// The path with `./` in front if it is relative, because `:memory:` and `file:…` have a special
  /// meaning in SQLite.
  private static func filePath(_ path: String) -> String {
    path.hasPrefix("/") || path.hasPrefix("./") ? path : "./" + path
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(database)
  }

  /// Runs statements without results, one after the other (sqlite3_exec).
  func execute(_ script: String) throws(SQLiteError) {
    let code = sqlite3_exec(database, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// A prepared statement: a new one (sqlite3_prepare_v3), or a cached one.
  func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    let key = UTF8Key(sql)
    if let cached = statements[key] { return cached }
    let prepared = try SQLiteStatement(sql, on: database, path: path)
    if statements.count >= Self.maxStatements { statements = [:] }
    statements[key] = prepared
    return prepared
  }

  /// Runs a statement to completion.
  func run(_ sql: String, _ arguments: SQLiteValue...) throws(SQLiteError) {
    try statement(sql).run(arguments)
  }

  /// The integer in the first column of a statement's first row, such as a PRAGMA's; `nil` without
  /// a row.
  func integer(_ sql: String, _ arguments: SQLiteValue...) throws -> Int64? {
    try statement(sql).rows(arguments) { $0.integer(0) }.first
  }

  /// The text in the first column of a statement's first row; `nil` without a row.
  func text(_ sql: String, _ arguments: SQLiteValue...) throws -> String? {
    try statement(sql).rows(arguments) { $0.text(0) }.first
  }

  /// The number of rows that the last statement inserted, changed or deleted (sqlite3_changes64).
  var changes: Int { Int(sqlite3_changes64(database)) }

  /// Whether a transaction is open (sqlite3_get_autocommit).
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  /// Runs the work in one transaction, from BEGIN IMMEDIATE to COMMIT. Rolls it back if the work
  /// throws.
  func transaction<Result>(_ work: () throws -> Result) throws -> Result {
    // These are no cached statements, because ``guarded(_:)`` applies when a statement is prepared.
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try work()
      try execute("COMMIT")
      return result
    } catch {
      // Many errors have already rolled the transaction back. If this fails, nothing is committed
      // either, and the next BEGIN reports the reason.
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs external code whose statements must not begin or end a transaction
  /// (sqlite3_set_authorizer). Such a statement fails with SQLITE_AUTH.
  func guarded<Result>(_ work: () throws -> Result) rethrows -> Result {
    transactionGuard.isActive = true
    defer { transactionGuard.isActive = false }
    return try work()
  }

  /// Sets whether the write-ahead log is kept when the connection ends (sqlite3_db_config,
  /// SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE). By default it is applied and removed.
  func keepLogOnClose(_ isKept: Bool) {
    _ = way_sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isKept ? 1 : 0)
  }

  private func error(_ code: Int32) -> SQLiteError {
    SQLiteError(
      path, code: code, text: String(cString: sqlite3_errmsg(database)),
      system: sqlite3_system_errno(database))
  }
}

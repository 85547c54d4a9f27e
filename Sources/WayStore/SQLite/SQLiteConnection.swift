import CWaySQLite
import Glibc
import WayValues

/// A connection to a database file. Belongs to one thread at a time; no pointer of SQLite's leaves
/// it and its statements.
final class SQLiteConnection {
  /// How many statements are kept for the next time.
  private static let maxStatements = 64

  /// The database's file.
  let path: String
  private let database: OpaquePointer
  private var statements: [UTF8Key: SQLiteStatement] = [:]
  private let ward = Ward()

  /// Whether what runs now may begin and end no transaction.
  private final class Ward {
    var isInWork = false
  }

  /// Opens a file (sqlite3_open_v2) and makes it where there is none, readable by its owner alone.
  /// What is there keeps its mode.
  ///
  /// - Parameter patience: how long another process is waited for (sqlite3_busy_timeout); it blocks
  ///   the thread.
  convenience init(making path: String, patience: Duration) throws(SQLiteError) {
    // Without O_EXCL it would be opened, and its closing would end the locks that this process
    // holds on it (fcntl, F_SETLK).
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      Glibc.close(descriptor)
    } else if errno != EEXIST {
      throw SQLiteError(path, "the file cannot be made", errno: errno)
    }
    try self.init(path, patience: patience)
  }

  /// Opens a file that is there, to read and write it (sqlite3_open_v2).
  init(_ path: String, patience: Duration) throws(SQLiteError) {
    var database: OpaquePointer?
    // The one who owns it sees to it that it is used by one thread at a time.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(Self.plain(path), &database, flags, nil)
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
    // sqlite3_db_readonly: where a file cannot be written, it is opened to be read.
    guard sqlite3_db_readonly(database, "main") == 0 else {
      sqlite3_close_v2(database)
      throw SQLiteError(path, "the file cannot be written", errno: EACCES)
    }
    self.path = path
    self.database = database
    let (seconds, attoseconds) = patience.components
    sqlite3_busy_timeout(database, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    sqlite3_set_authorizer(
      database,
      { context, action, _, _, _, _ in
        guard action == SQLITE_TRANSACTION, let context else { return SQLITE_OK }
        let ward = Unmanaged<Ward>.fromOpaque(context).takeUnretainedValue()
        return ward.isInWork ? SQLITE_DENY : SQLITE_OK
      }, Unmanaged.passUnretained(ward).toOpaque())
  }

  /// A path that means a file: `:memory:` and `file:…` mean something else to SQLite.
  private static func plain(_ path: String) -> String {
    path.hasPrefix("/") || path.hasPrefix("./") ? path : "./" + path
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(database)
  }

  /// Runs statements that give nothing, one after the other (sqlite3_exec).
  func execute(_ script: String) throws(SQLiteError) {
    let code = sqlite3_exec(database, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// A statement, made now (sqlite3_prepare_v3) or kept from the last time.
  func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    let key = UTF8Key(sql)
    if let kept = statements[key] { return kept }
    let made = try SQLiteStatement(sql, on: database, path: path)
    if statements.count >= Self.maxStatements { statements = [:] }
    statements[key] = made
    return made
  }

  /// Runs a statement to its end.
  func run(_ sql: String, _ arguments: SQLiteValue...) throws(SQLiteError) {
    try statement(sql).run(arguments)
  }

  /// The integer that a statement's first row begins with, such as a PRAGMA's; nil without a row.
  func integer(_ sql: String, _ arguments: SQLiteValue...) throws -> Int64? {
    try statement(sql).rows(arguments) { $0.integer(0) }.first
  }

  /// The text that a statement's first row begins with; nil without a row.
  func text(_ sql: String, _ arguments: SQLiteValue...) throws -> String? {
    try statement(sql).rows(arguments) { $0.text(0) }.first
  }

  /// How many rows the last statement has inserted, changed or deleted (sqlite3_changes64).
  var changes: Int { Int(sqlite3_changes64(database)) }

  /// Whether a transaction is open (sqlite3_get_autocommit).
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  /// Does all of it or, where it throws, nothing: one transaction, from BEGIN IMMEDIATE to COMMIT.
  func transaction<Result>(_ work: () throws -> Result) throws -> Result {
    // None of these is a statement that is kept: ``guarded(_:)`` looks at those that are made.
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try work()
      try execute("COMMIT")
      return result
    } catch {
      // Many errors have rolled it back by then. Where this one fails, nothing is committed either,
      // and the next BEGIN tells why.
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Lets code of others run statements that neither begin nor end a transaction
  /// (sqlite3_set_authorizer): such a one fails with SQLITE_AUTH.
  func guarded<Result>(_ work: () throws -> Result) rethrows -> Result {
    ward.isInWork = true
    defer { ward.isInWork = false }
    return try work()
  }

  /// Leaves what is in the write-ahead log where it is when the connection ends (sqlite3_db_config,
  /// SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE).
  func keepLog() {
    _ = way_sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  private func error(_ code: Int32) -> SQLiteError {
    SQLiteError(
      path, code: code, text: String(cString: sqlite3_errmsg(database)),
      system: sqlite3_system_errno(database))
  }
}

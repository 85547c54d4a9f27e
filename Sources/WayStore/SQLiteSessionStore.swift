import Glibc
import WaySession

/// Stores sessions in a folder, for one server at a time, in the SQLite database `sessions.db`.
///
/// Changes are on disk (fsync) when ``append(_:)`` returns, and survive a crash of the process or
/// the machine. All work runs on a separate thread, in the order of the calls.
///
/// The file contains secrets that open sessions. It is created for its owner alone (mode 0600, a
/// new folder 0700). The file must belong to the user of the process, or root, and others must not
/// have access to it; nor may they write to its folder.
public actor SQLiteSessionStore: SessionStore {
  private let queue = SQLiteWorkQueue("waybridge.sessions")
  private let path: String
  /// `nil` when the store is closed.
  private var connection: SQLiteConnection?

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Opens the store of a folder, and creates it if it is missing. Blocks the thread.
  ///
  /// Throws ``SQLiteError``, which describes the solution, in these cases:
  /// - Another process uses the folder; the store waits one second for it.
  /// - The folder is not writable, or the disk is full.
  /// - The folder or file belongs to another user, or other users can access it.
  /// - The file or its log is damaged, is not a session store, or has a newer version. It is left
  ///   unchanged.
  ///
  /// The whole file is read once (`PRAGMA quick_check`).
  public init(folder: String) throws {
    try self.init(folder: folder, maxPages: nil)
  }

  /// Simulates a disk with room for `maxPages` pages of 4,096 bytes (`PRAGMA max_page_count`).
  package init(folder: String, maxPages: Int?) throws {
    try Self.createFolder(folder)
    let file = "\(folder)/\(SessionSchema.fileName)"
    try Self.checkAccess(folder, S_IFDIR, rejecting: 0o022, advice: "chmod 700")
    try Self.checkAccess(file, S_IFREG, rejecting: 0o077, advice: "chmod 600")
    try SQLiteLogCheck.checkHasDatabase(file)
    let connection = try SQLiteConnection(making: file, busyTimeout: .seconds(1))
    connection.keepLogOnClose(true)
    // Must come before the log is opened: it locks the file permanently, and needs no shared memory
    // (https://sqlite.org/wal.html#noshm).
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    // Locks the file, so that no other server changes the log.
    try connection.execute("BEGIN IMMEDIATE; ROLLBACK")
    try SQLiteLogCheck.check(file)
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      throw SQLiteError(
        connection.path, "the file does not support a write-ahead log (journal_mode = WAL)")
    }
    try connection.execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA journal_size_limit = 67108864;
      """)
    if let maxPages { try connection.execute("PRAGMA max_page_count = \(maxPages)") }
    try SessionSchema.create(connection)
    if let fault = try connection.text("PRAGMA quick_check(1)"), fault != "ok" {
      throw SQLiteError(damaged: file, in: "the file (\(fault))")
    }
    connection.keepLogOnClose(false)
    path = connection.path
    self.connection = connection
  }

  private static func createFolder(_ folder: String) throws(SQLiteError) {
    guard mkdir(folder, 0o700) == 0 else {
      if errno == EEXIST { return }
      throw SQLiteError(folder, "the folder cannot be created", errno: errno)
    }
    // The folder's entry in its parent must be durable too.
    let parent = open("\(folder)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    fsync(parent)
    Glibc.close(parent)
  }

  /// Throws if a file or folder belongs to another user than the process's or root, or if its mode has
  /// one of the bits in `mode`.
  private static func checkAccess(
    _ path: String, _ kind: mode_t, rejecting mode: mode_t, advice command: String
  ) throws(SQLiteError) {
    var status = stat()
    // SQLite reports anything else than a folder or file.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == kind else { return }
    if status.st_mode & mode != 0 {
      let found = String(status.st_mode & 0o777, radix: 8)
      throw SQLiteError(
        path, "other users than its owner have access to it (mode \(found))",
        advice: "run: \(command) \(path)")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw SQLiteError(
        path, "it belongs to the user \(status.st_uid), not to the server's user",
        advice: "run: chown \(geteuid()) \(path)")
    }
  }

  /// Takes over all sessions: the owner of the file is their only owner. Throws ``SQLiteError``.
  public func load(as owner: String) throws -> [StoredSession] {
    let connection = try openConnection()
    return try connection.transaction {
      try connection.run("UPDATE sessions SET owner = ?, term = term + 1", .text(owner))
      var parts: [Int64: [String: [UInt8]]] = [:]
      _ = try connection.statement("SELECT session, part, bytes FROM parts").rows([]) { row in
        parts[row.integer(0), default: [:]][row.text(1)] = row.blob(2)
      }
      return try connection.statement("SELECT number, id, term FROM sessions ORDER BY number")
        .rows([]) { row in
          StoredSession(
            id: row.text(1), lease: SessionLease(owner: owner, term: row.integer(2)),
            parts: parts[row.integer(0)] ?? [:])
        }
    }
  }

  /// Applies the changes in one transaction. Throws ``SQLiteError`` if the file is not writable,
  /// and ``SessionStoreError/leaseLost(sessions:)``. Nothing is then stored, and the store remains
  /// usable.
  @discardableResult
  public func append(_ changes: [SessionChange]) throws -> Set<String> {
    let connection = try openConnection()
    guard !changes.isEmpty else { return [] }
    try connection.transaction {
      for change in changes { try apply(change, connection) }
    }
    return []
  }

  /// Closes the log and unlocks the file.
  public func close() {
    connection = nil
  }

  private func openConnection() throws(SQLiteError) -> SQLiteConnection {
    guard let connection else { throw SQLiteError(path, "the store is closed") }
    return connection
  }

  private func apply(_ change: SessionChange, _ connection: SQLiteConnection) throws {
    let found = try connection.statement("SELECT number, owner, term FROM sessions WHERE id = ?")
      .rows([.text(change.session)]) { row in
        (number: row.integer(0), lease: SessionLease(owner: row.text(1), term: row.integer(2)))
      }.first
    if let found, found.lease != change.lease {
      throw SessionStoreError.leaseLost(sessions: [change.session])
    }
    if change.isEnd {
      guard let found else { return }
      try connection.run("DELETE FROM parts WHERE session = ?", .integer(found.number))
      try connection.run("DELETE FROM sessions WHERE number = ?", .integer(found.number))
      return
    }
    let number: Int64
    if let found {
      number = found.number
      try connection.run(
        "UPDATE sessions SET changed = ? WHERE number = ?", .integer(Self.now()), .integer(number))
    } else {
      number = try insertSession(change, connection)
    }
    for step in change.steps { try apply(step, number, connection) }
  }

  /// Inserts the row of a session. Returns its number.
  private func insertSession(_ change: SessionChange, _ connection: SQLiteConnection) throws
    -> Int64
  {
    let number = try connection.integer(
      "INSERT INTO sessions (id, owner, term, changed) VALUES (?, ?, ?, ?) RETURNING number",
      .text(change.session), .text(change.lease.owner), .integer(change.lease.term),
      .integer(Self.now()))
    guard let number else { throw SQLiteError(path, "the new session has no number") }
    return number
  }

  private func apply(
    _ step: SessionChange.ChangeStep, _ number: Int64, _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    let session = SQLiteValue.integer(number)
    switch step {
    case .put(let part, let bytes):
      try connection.run(
        """
        INSERT INTO parts (session, part, bytes) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET bytes = excluded.bytes
        """, session, .text(part), .blob(bytes))
    case .remove(let part):
      try connection.run("DELETE FROM parts WHERE session = ? AND part = ?", session, .text(part))
    case .removeRange(let first, let last):
      // Columns have the collation BINARY, which compares bytes (memcmp).
      try connection.run(
        "DELETE FROM parts WHERE session = ? AND part BETWEEN ? AND ?",
        session, .text(first), .text(last))
    case .removeAll:
      try connection.run("DELETE FROM parts WHERE session = ?", session)
    }
  }

  /// The time in milliseconds since 1970-01-01 UTC (clock_gettime, CLOCK_REALTIME).
  private static func now() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

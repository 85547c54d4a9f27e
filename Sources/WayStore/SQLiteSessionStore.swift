import Glibc
import WaySession

/// Keeps sessions in a folder of a disk, for one server at a time: in an SQLite database,
/// `sessions.db`.
///
/// What ``append(_:)`` has returned for is on the disk (fsync) and outlives a crash of the process
/// and of the machine. All work is done on a thread of its own, in the order of the calls.
///
/// The file holds what opens sessions: it is made for its owner alone (mode 0600, a new folder
/// 0700), and one that is there keeps its mode.
public actor SQLiteSessionStore: SessionStore {
  private let queue = SQLiteWorkQueue("waybridge.sessions")
  private let path: String
  /// Nil once it is closed.
  private var connection: SQLiteConnection?

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Opens the store of a folder, and makes it where there is none; blocks meanwhile.
  ///
  /// Throws ``SQLiteError``, which says what to do: where another process uses the folder (after a
  /// second), where it cannot be written, where the disk is full, and where the file is damaged, no
  /// store of sessions, or of a newer version. Such a file is left as it is. That a page in the
  /// middle of the file is damaged is not seen before ``load(as:)``, which throws the same.
  public init(folder: String) throws {
    try self.init(folder: folder, maxPages: nil)
  }

  /// As it is with a disk that has room for so many pages of 4,096 bytes (`PRAGMA max_page_count`).
  package init(folder: String, maxPages: Int?) throws {
    try Self.make(folder)
    let connection = try SQLiteConnection(
      making: "\(folder)/\(SessionSchema.file)", patience: .seconds(1))
    // Before the log is looked at: it takes the lock of the file and keeps it, and needs no memory
    // that processes share (https://sqlite.org/wal.html#noshm).
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      throw SQLiteError(connection.path, "there can be no write-ahead log (journal_mode = WAL)")
    }
    try connection.execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA journal_size_limit = 67108864;
      """)
    if let maxPages { try connection.execute("PRAGMA max_page_count = \(maxPages)") }
    try SessionSchema.make(connection)
    path = connection.path
    self.connection = connection
  }

  private static func make(_ folder: String) throws(SQLiteError) {
    guard mkdir(folder, 0o700) == 0 else {
      if errno == EEXIST { return }
      throw SQLiteError(folder, "the folder cannot be made", errno: errno)
    }
    // That the folder is there has to last as well.
    let parent = open("\(folder)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    fsync(parent)
    Glibc.close(parent)
  }

  /// Takes over all sessions: who holds the file is their only owner. Throws ``SQLiteError``.
  public func load(as owner: String) throws -> [StoredSession] {
    let connection = try opened()
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

  /// Makes the changes in one transaction. Throws ``SQLiteError`` where the file cannot be written,
  /// and ``SessionStoreError/leaseLost(sessions:)``; nothing of the changes is kept then, and the
  /// store can be used further.
  @discardableResult
  public func append(_ changes: [SessionChange]) throws -> Set<String> {
    let connection = try opened()
    guard !changes.isEmpty else { return [] }
    try connection.transaction {
      for change in changes { try make(change, connection) }
    }
    return []
  }

  /// Ends the log and gives the lock of the file back.
  public func close() {
    connection = nil
  }

  private func opened() throws(SQLiteError) -> SQLiteConnection {
    guard let connection else { throw SQLiteError(path, "the store is closed") }
    return connection
  }

  private func make(_ change: SessionChange, _ connection: SQLiteConnection) throws {
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
      number = try begin(change, connection)
    }
    for step in change.steps { try make(step, number, connection) }
  }

  /// A session's row; gives its number.
  private func begin(_ change: SessionChange, _ connection: SQLiteConnection) throws -> Int64 {
    let number = try connection.integer(
      "INSERT INTO sessions (id, owner, term, changed) VALUES (?, ?, ?, ?) RETURNING number",
      .text(change.session), .text(change.lease.owner), .integer(change.lease.term),
      .integer(Self.now()))
    guard let number else { throw SQLiteError(path, "the new session has no number") }
    return number
  }

  private func make(
    _ step: SessionChange.Step, _ number: Int64, _ connection: SQLiteConnection
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
      // The collation BINARY, which columns have, compares bytes (memcmp).
      try connection.run(
        "DELETE FROM parts WHERE session = ? AND part BETWEEN ? AND ?",
        session, .text(first), .text(last))
    case .removeAll:
      try connection.run("DELETE FROM parts WHERE session = ?", session)
    }
  }

  /// Milliseconds since 1970-01-01 UTC (clock_gettime, CLOCK_REALTIME).
  private static func now() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

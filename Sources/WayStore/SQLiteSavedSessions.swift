import Glibc
import WaySession

/// A read-only view of the sessions that a stopped server has stored in a folder. It takes no
/// lease, and leaves the file and its log unchanged. While it exists, no server can start with the
/// folder.
///
/// All methods block, and throw ``SQLiteError``.
package final class SQLiteSavedSessions {
  /// The data of a session without the contents of its parts.
  package struct SavedSessionSummary: Sendable {
    /// Unique among all sessions.
    package let id: String
    /// The last owner.
    package let lease: SessionLease
    /// The time of the last change, in milliseconds since 1970-01-01 UTC.
    package let changedAt: Int64
    /// The parts in byte order, each with its number of bytes.
    package let parts: [(name: String, bytes: Int)]
  }

  private let connection: SQLiteConnection
  private let hasTables: Bool

  /// Opens the store of a folder.
  ///
  /// Throws if there is no store, if a server uses it, or if it is not writable, because its lock
  /// is required.
  package init(folder: String) throws {
    let path = "\(folder)/\(SessionSchema.fileName)"
    guard access(path, F_OK) == 0 else {
      throw SQLiteError(path, "the folder contains no session store", errno: errno)
    }
    try SQLiteLogCheck.checkHasDatabase(path)
    // The log of a crashed server is kept for the server that starts next.
    let hasLog = access(path + "-wal", F_OK) == 0
    connection = try SQLiteConnection(path, busyTimeout: .zero)
    if hasLog { connection.keepLogOnClose(true) }
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON;")
    hasTables = try SessionSchema.exists(connection)
    try SQLiteLogCheck.check(path)
  }

  /// All sessions, in the order of their creation.
  package func list() throws -> [SavedSessionSummary] {
    guard hasTables else { return [] }
    var parts: [Int64: [(name: String, bytes: Int)]] = [:]
    _ = try connection.statement("SELECT session, part, length(bytes) FROM parts").rows([]) { row in
      parts[row.integer(0), default: []].append((row.text(1), Int(row.integer(2))))
    }
    return try connection.statement(
      "SELECT number, id, owner, term, changed FROM sessions ORDER BY number"
    ).rows([]) { row in
      SavedSessionSummary(
        id: row.text(1), lease: SessionLease(owner: row.text(2), term: row.integer(3)),
        changedAt: row.integer(4), parts: parts[row.integer(0)] ?? [])
    }
  }

  /// The bytes of a part; `nil` if there is no such session or part.
  package func part(_ name: String, of session: String) throws -> [UInt8]? {
    guard hasTables else { return nil }
    return try connection.statement(
      """
      SELECT bytes FROM parts JOIN sessions ON sessions.number = parts.session
      WHERE sessions.id = ? AND part = ?
      """
    ).rows([.text(session), .text(name)]) { $0.blob(0) }.first
  }
}

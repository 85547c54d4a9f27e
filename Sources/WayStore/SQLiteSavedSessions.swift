import Glibc
import WaySession

/// What a server that is down has kept of its sessions in a folder, to look at. Nothing is changed:
/// no lease is taken, and the file and its log stay as they are. While it is there, no server can
/// begin on the folder.
///
/// All methods block, and throw ``SQLiteError``.
package final class SQLiteSavedSessions {
  /// What is told of a session without reading its parts.
  package struct Summary: Sendable {
    /// Unique among all sessions.
    package let id: String
    /// Who owned it last.
    package let lease: SessionLease
    /// When it changed last, in milliseconds since 1970-01-01 UTC.
    package let changed: Int64
    /// The parts, in the order of their bytes, with how many bytes each has.
    package let parts: [(name: String, bytes: Int)]
  }

  private let connection: SQLiteConnection
  private let hasTables: Bool

  /// Opens the store of a folder.
  ///
  /// Throws where there is none, where a server uses it, and where it cannot be written: its lock
  /// has to be taken.
  package init(folder: String) throws {
    let path = "\(folder)/\(SessionSchema.file)"
    guard access(path, F_OK) == 0 else {
      throw SQLiteError(path, "there is no store of sessions", errno: errno)
    }
    // Where a server has crashed, its log is left for the one that begins next.
    let hasLog = access(path + "-wal", F_OK) == 0
    connection = try SQLiteConnection(path, patience: .zero)
    if hasLog { connection.keepLog() }
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON;")
    hasTables = try SessionSchema.isThere(connection)
  }

  /// All sessions, in the order in which they began.
  package func list() throws -> [Summary] {
    guard hasTables else { return [] }
    var parts: [Int64: [(name: String, bytes: Int)]] = [:]
    _ = try connection.statement("SELECT session, part, length(bytes) FROM parts").rows([]) { row in
      parts[row.integer(0), default: []].append((row.text(1), Int(row.integer(2))))
    }
    return try connection.statement(
      "SELECT number, id, owner, term, changed FROM sessions ORDER BY number"
    ).rows([]) { row in
      Summary(
        id: row.text(1), lease: SessionLease(owner: row.text(2), term: row.integer(3)),
        changed: row.integer(4), parts: parts[row.integer(0)] ?? [])
    }
  }

  /// The bytes of a part; nil where there is no such session or part.
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

/// The tables that sessions are kept in, and how a file that has them is told from others.
enum SessionSchema {
  /// The file in the folder of a store.
  static let file = "sessions.db"
  /// The form of the tables (`PRAGMA user_version`); one that reads a later one is a later version.
  private static let version: Int64 = 1
  /// `Wayb`: what is no store of sessions has another one (`PRAGMA application_id`).
  private static let application: Int64 = 0x5761_7962

  private static let tables = """
    CREATE TABLE sessions (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      owner TEXT NOT NULL,
      term INTEGER NOT NULL,
      -- Milliseconds since 1970-01-01 UTC.
      changed INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE parts (
      session INTEGER NOT NULL,
      part TEXT NOT NULL,
      bytes BLOB NOT NULL,
      PRIMARY KEY (session, part)
    ) STRICT, WITHOUT ROWID;
    PRAGMA application_id = \(application);
    PRAGMA user_version = \(version);
    """

  /// Makes the tables in a new file.
  static func make(_ connection: SQLiteConnection) throws {
    if try isThere(connection) { return }
    try connection.transaction { try connection.execute(tables) }
  }

  /// Whether a file has the tables; not so a new one. Throws where it has others.
  static func isThere(_ connection: SQLiteConnection) throws -> Bool {
    let application = try connection.integer("PRAGMA application_id") ?? 0
    let version = try connection.integer("PRAGMA user_version") ?? 0
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    if application == 0, version == 0, tables == 0 { return false }
    guard application == Self.application, version > 0 else {
      throw SQLiteError(
        connection.path, "the file is no store of sessions", advice: "name another folder")
    }
    guard version <= Self.version else {
      throw SQLiteError(
        connection.path,
        "a newer version of Waybridge has written it (form \(version), this one reads "
          + "\(Self.version))",
        advice: "run that version, or name another folder")
    }
    return true
  }
}

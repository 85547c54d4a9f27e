/// The tables of a session store, and the detection of files that have them.
enum SessionSchema {
  /// The name of the file in a store's folder.
  static let fileName = "sessions.db"
  /// The version of the schema (`PRAGMA user_version`). Only later releases read a later version.
  private static let version: Int64 = 1
  /// `Wayb`. Files that are no session store have another id (`PRAGMA application_id`).
  private static let applicationID: Int64 = 0x5761_7962

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
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Creates the tables in a new file.
  static func create(_ connection: SQLiteConnection) throws {
    if try exists(connection) { return }
    try connection.transaction { try connection.execute(tables) }
  }

  /// Whether a file has the tables; false for a new file. Throws if the file has other tables.
  static func exists(_ connection: SQLiteConnection) throws -> Bool {
    let application = try connection.integer("PRAGMA application_id") ?? 0
    let version = try connection.integer("PRAGMA user_version") ?? 0
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    if application == 0, version == 0, tables == 0 { return false }
    guard application == Self.applicationID, version > 0 else {
      throw SQLiteError(
        connection.path, "the file is not a session store", advice: "choose another folder")
    }
    guard version <= Self.version else {
      throw SQLiteError(
        connection.path,
        "a newer version of Waybridge wrote it (format \(version); this one reads up to "
          + "\(Self.version))",
        advice: "run that version, or choose another folder")
    }
    return true
  }
}

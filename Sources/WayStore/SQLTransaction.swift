import CWaySQLite
import WayRPC
import WayValues

/// The database inside a transaction, valid while the transaction's work runs. The caller of the
/// work commits it, or rolls it back if the work throws.
///
/// Values are converted to SQLite's types. Booleans become 1 and 0, and numbers that are no `Int64`
/// become the nearest double. Arrays and objects become their JSON text.
public struct SQLTransaction: ~Copyable {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) {
    self.connection = connection
  }

  /// Runs one statement with the arguments for its `?`, in order. Returns the number of inserted,
  /// changed or deleted rows (sqlite3_changes64). After another kind of statement the number is
  /// meaningless.
  ///
  /// Throws ``SQLiteError`` if SQLite reports an error. A statement that begins or ends a
  /// transaction is an error.
  @discardableResult
  public func execute(_ sql: String, _ arguments: Value...) throws -> Int {
    try check()
    try connection.statement(sql).run(try arguments.map(Self.sqliteValue))
    return connection.changes
  }

  /// Runs one statement with the arguments for its `?`, in order. Returns its rows, each an object
  /// with the columns by name. If columns have the same name, the last one counts.
  ///
  /// Throws ``SQLiteError`` if SQLite reports an error, and for a column with bytes (a BLOB), for
  /// which there is no ``Value``. Select `hex(column)` to get text.
  public func rows(_ sql: String, _ arguments: Value...) throws -> [ValueObject] {
    try check()
    let path = connection.path
    return try connection.statement(sql).rows(try arguments.map(Self.sqliteValue)) { row in
      var members = ValueObject()
      members.reserveCapacity(row.count)
      for column in 0..<row.count {
        let name = row.name(column)
        members[name] =
          switch row.value(column) {
          case .null: .null
          case .integer(let value): .integer(value)
          // SQLite has no NaN. An infinity becomes null, as everywhere in JSON.
          case .real(let value): Value(value)
          case .text(let text): .string(text)
          case .blob:
            throw SQLiteError(
              path, "the column \"\(name)\" holds bytes (a BLOB), which JSON cannot represent",
              advice: "select hex(\(name)), for example")
          }
      }
      return members
    }
  }

  /// Throws if the transaction has been rolled back (`ON CONFLICT ROLLBACK`, a full disk). Further
  /// statements would then be committed separately.
  func check() throws(SQLiteError) {
    guard connection.isInTransaction else {
      throw SQLiteError(
        connection.path, code: SQLITE_ABORT, text: "the transaction has been rolled back")
    }
  }

  private static func sqliteValue(_ value: Value) throws -> SQLiteValue {
    switch value {
    case .null: .null
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .number(let number): .real(number.double)
    case .string(let text): .text(text)
    case .array, .object: .text(try JSON.text(value))
    }
  }
}

import CWaySQLite
import WayRPC
import WayValues

/// The database in the middle of a transaction, for as long as the work that is given it runs. Who
/// gave it commits it, or rolls it back where the work throws.
///
/// Values become SQLite's as they are; true and false become 1 and 0, a number that is no `Int64`
/// the nearest double, and lists and objects their JSON text.
public struct SQLTransaction: ~Copyable {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) {
    self.connection = connection
  }

  /// Runs one statement, whose `?` stand for the arguments in their order. Gives how many rows it
  /// has inserted, changed or deleted (sqlite3_changes64); after a statement that does neither, the
  /// number says nothing.
  ///
  /// Throws ``SQLiteError`` where SQLite refuses, as it does what would begin or end a transaction.
  @discardableResult
  public func execute(_ sql: String, _ arguments: Value...) throws -> Int {
    try check()
    try connection.statement(sql).run(try arguments.map(Self.bound))
    return connection.changes
  }

  /// Runs one statement, whose `?` stand for the arguments in their order, and gives its rows, each
  /// with its columns by their names. Of columns that share a name the last counts.
  ///
  /// Throws ``SQLiteError`` where SQLite refuses, and for a column that holds bytes (a BLOB), which
  /// no ``Value`` does: `hex(column)` is text.
  public func rows(_ sql: String, _ arguments: Value...) throws -> [ValueObject] {
    try check()
    let path = connection.path
    return try connection.statement(sql).rows(try arguments.map(Self.bound)) { row in
      var members = ValueObject()
      members.reserveCapacity(row.count)
      for column in 0..<row.count {
        let name = row.name(column)
        members[name] =
          switch row.value(column) {
          case .null: .null
          case .integer(let value): .integer(value)
          // SQLite has no NaN; an infinity is null, as everywhere in JSON.
          case .real(let value): Value(value)
          case .text(let text): .string(text)
          case .blob:
            throw SQLiteError(
              path, "the column '\(name)' holds bytes (a BLOB), which JSON has no value for",
              advice: "select hex(\(name)) for instance")
          }
      }
      return members
    }
  }

  /// Throws where the transaction has been rolled back (`ON CONFLICT ROLLBACK`, a full disk): what
  /// followed would be committed by itself.
  func check() throws(SQLiteError) {
    guard connection.isInTransaction else {
      throw SQLiteError(
        connection.path, code: SQLITE_ABORT, text: "the transaction has been rolled back")
    }
  }

  private static func bound(_ value: Value) throws -> SQLiteValue {
    switch value {
    case .null: .null
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .number(let number): .real(number.double)
    case .string(let text): .text(text)
    case .list, .object: .text(try JSON.text(value))
    }
  }
}

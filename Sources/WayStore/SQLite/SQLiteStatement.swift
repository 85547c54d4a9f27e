import CWaySQLite

/// A prepared statement. It belongs to its connection's thread.
final class SQLiteStatement {
  private let statement: OpaquePointer
  private let path: String

  /// Prepares the first statement of a text (sqlite3_prepare_v3). Throws if there is none, or more
  /// than one.
  init(_ sql: String, on database: OpaquePointer, path: String) throws(SQLiteError) {
    self.path = path
    var prepared: OpaquePointer?
    var code = SQLITE_OK
    var rest = ""
    sql.withCString { start in
      var tail: UnsafePointer<CChar>?
      code = sqlite3_prepare_v3(
        database, start, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &tail)
      if let tail { rest = String(cString: tail) }
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(path, code: code, text: String(cString: sqlite3_errmsg(database)))
    }
    guard let prepared else { throw SQLiteError(path, "there is no statement in \"\(sql)\"") }
    guard rest.utf8.allSatisfy({ " \t\r\n;".utf8.contains($0) }), !sql.utf8.contains(0) else {
      sqlite3_finalize(prepared)
      throw SQLiteError(
        path, "only one statement can be run at a time, and another one follows: \"\(rest)\"")
    }
    statement = prepared
  }

  deinit {
    sqlite3_finalize(statement)
  }

  /// Runs the statement to completion, and ignores its rows.
  func run(_ arguments: [SQLiteValue]) throws(SQLiteError) {
    try bind(arguments)
    defer { reset() }
    while try step() {}
  }

  /// Runs the statement to completion. `read` converts each row.
  func rows<Result>(
    _ arguments: [SQLiteValue], _ read: (borrowing SQLiteRow) throws -> Result
  ) throws -> [Result] {
    try bind(arguments)
    defer { reset() }
    var results: [Result] = []
    while try step() { results.append(try read(SQLiteRow(statement))) }
    return results
  }

  /// Binds values to the parameters (sqlite3_bind_…).
  private func bind(_ arguments: [SQLiteValue]) throws(SQLiteError) {
    let count = Int(sqlite3_bind_parameter_count(statement))
    guard count == arguments.count else {
      throw SQLiteError(
        path,
        "the statement has \(count) parameters, and \(arguments.count) were given: "
          + "\"\(String(cString: sqlite3_sql(statement)))\"")
    }
    for (index, argument) in arguments.enumerated() {
      let code = bind(argument, at: Int32(index + 1))
      guard code == SQLITE_OK else {
        let error = error(code)
        reset()
        throw error
      }
    }
  }

  private func bind(_ argument: SQLiteValue, at index: Int32) -> Int32 {
    switch argument {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .real(let value): return sqlite3_bind_double(statement, index, value)
    case .text(let text):
      return way_sqlite3_bind_text(statement, index, text, UInt64(text.utf8.count))
    case .blob(let bytes):
      guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
      return bytes.withUnsafeBytes {
        way_sqlite3_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// Whether there is a further row (sqlite3_step).
  private func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw error(code)
    }
  }

  /// Resets the statement and clears its arguments (sqlite3_reset, sqlite3_clear_bindings).
  /// sqlite3_reset returns the code of the previous step, which is ignored.
  private func reset() {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  private func error(_ code: Int32) -> SQLiteError {
    let database = sqlite3_db_handle(statement)
    return SQLiteError(
      path, code: code, text: String(cString: sqlite3_errmsg(database)),
      system: sqlite3_system_errno(database))
  }
}

/// The current row of a statement, valid until the next step. Columns count from 0.
struct SQLiteRow: ~Copyable {
  private let statement: OpaquePointer

  fileprivate init(_ statement: OpaquePointer) {
    self.statement = statement
  }

  /// The number of columns (sqlite3_column_count).
  var count: Int { Int(sqlite3_column_count(statement)) }

  /// The name of a column (sqlite3_column_name).
  func name(_ column: Int) -> String {
    sqlite3_column_name(statement, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// The value of a column as an integer (sqlite3_column_int64).
  func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

  /// The value of a column as text (sqlite3_column_text).
  func text(_ column: Int) -> String {
    guard let start = sqlite3_column_text(statement, Int32(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The bytes of a column (sqlite3_column_blob).
  func blob(_ column: Int) -> [UInt8] {
    guard let start = sqlite3_column_blob(statement, Int32(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The value of a column in its own type (sqlite3_column_type).
  func value(_ column: Int) -> SQLiteValue {
    switch sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(statement, Int32(column)))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(blob(column))
    default: .null
    }
  }
}

/// The value of a column or of a statement's parameter (https://sqlite.org/datatype3.html).
enum SQLiteValue: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

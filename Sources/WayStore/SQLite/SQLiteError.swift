import CWaySQLite
import Glibc

/// Why a database cannot be used: which file, what is wrong, and what to do about it.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The database's file, or the folder where that is what cannot be used.
  public let path: String
  /// SQLite's result code (https://sqlite.org/rescode.html) by its name: `SQLITE_FULL`. Nil where
  /// it is not SQLite that refuses.
  public let code: String?
  /// What is wrong, in SQLite's words or the system's.
  public let reason: String
  /// What whoever runs the server can do; nil where that is not known.
  public let advice: String?

  /// What is wrong, as nobody but Waybridge knows it.
  init(_ path: String, _ reason: String, advice: String? = nil) {
    self.path = path
    self.reason = reason
    self.advice = advice
    code = nil
  }

  /// What the system refuses, by the C library's error number (strerror).
  init(_ path: String, _ what: String, errno code: Int32) {
    let advice: String? =
      switch code {
      case EACCES, EPERM, EROFS: Self.permission(path)
      case ENOSPC, EDQUOT: Self.room
      case ENOTDIR, EEXIST: "name a folder, or one that is not there yet"
      default: nil
      }
    self.init(path, "\(what): \(String(cString: strerror(code)))", advice: advice)
  }

  /// What SQLite refuses: a result code, extended or not, and its text (sqlite3_errmsg). `system`
  /// is what the operating system said to it last (sqlite3_system_errno).
  init(_ path: String, code: Int32, text: String, system: Int32 = 0) {
    let primary = code & 0xFF
    self.path = path
    let name = Self.names[primary] ?? "SQLITE"
    self.code = code == primary ? name : "\(name) (\(code))"
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(primary) && system != 0
    reason = isOfSystem ? "\(text): \(String(cString: strerror(system)))" : text
    advice =
      switch primary {
      case SQLITE_FULL: Self.room
      case SQLITE_IOERR where system == ENOSPC || system == EDQUOT: Self.room
      case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: Self.permission(path)
      case SQLITE_CORRUPT, SQLITE_NOTADB:
        "the file is damaged, or no database; it is left as it is: move it away together with "
          + "\(path)-wal, if there is one, and begin anew or with a copy"
      case SQLITE_BUSY, SQLITE_LOCKED:
        "another process uses the file, a server that runs for instance: end that, or name another "
          + "place"
      case SQLITE_AUTH:
        "a transaction is begun and ended by whom it was given by: to roll it back, throw"
      default: nil
      }
  }

  private static let room = "make room on its disk"

  private static func permission(_ path: String) -> String {
    "let the user \(geteuid()) write to it and to the folder that it is in, or name another place"
  }

  /// A sentence with the path, what is wrong and what to do.
  public var description: String {
    let name = code.map { " [\($0)]" } ?? ""
    return "\(path) cannot be used: \(reason)\(name)" + (advice.map { "; \($0)" } ?? "")
  }

  private static let names: [Int32: String] = [
    SQLITE_ERROR: "SQLITE_ERROR", SQLITE_INTERNAL: "SQLITE_INTERNAL", SQLITE_PERM: "SQLITE_PERM",
    SQLITE_ABORT: "SQLITE_ABORT", SQLITE_BUSY: "SQLITE_BUSY", SQLITE_LOCKED: "SQLITE_LOCKED",
    SQLITE_NOMEM: "SQLITE_NOMEM", SQLITE_READONLY: "SQLITE_READONLY",
    SQLITE_INTERRUPT: "SQLITE_INTERRUPT", SQLITE_IOERR: "SQLITE_IOERR",
    SQLITE_CORRUPT: "SQLITE_CORRUPT", SQLITE_FULL: "SQLITE_FULL",
    SQLITE_CANTOPEN: "SQLITE_CANTOPEN", SQLITE_PROTOCOL: "SQLITE_PROTOCOL",
    SQLITE_SCHEMA: "SQLITE_SCHEMA", SQLITE_TOOBIG: "SQLITE_TOOBIG",
    SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", SQLITE_MISMATCH: "SQLITE_MISMATCH",
    SQLITE_MISUSE: "SQLITE_MISUSE", SQLITE_NOLFS: "SQLITE_NOLFS", SQLITE_AUTH: "SQLITE_AUTH",
    SQLITE_RANGE: "SQLITE_RANGE", SQLITE_NOTADB: "SQLITE_NOTADB",
  ]
}

import CWaySQLite
import Glibc

/// The reason why a database cannot be used: the file, the problem and the solution.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The database file, or its folder if that is the problem.
  public let path: String
  /// The name of SQLite's result code (https://sqlite.org/rescode.html), such as `SQLITE_FULL`.
  /// `nil` if the error is not from SQLite.
  public let code: String?
  /// The problem, in the words of SQLite or the system.
  public let reason: String
  /// The remedy for the operator; `nil` if it is unknown.
  public let advice: String?

  /// An error that Waybridge itself detects.
  init(_ path: String, _ reason: String, advice: String? = nil) {
    self.path = path
    self.reason = reason
    self.advice = advice
    code = nil
  }

  /// An error of the system, from the C library's error number (strerror).
  init(_ path: String, _ what: String, errno code: Int32) {
    let advice: String? =
      switch code {
      case EACCES, EPERM, EROFS: Self.permissionAdvice(path)
      case ENOSPC, EDQUOT: Self.diskFullAdvice
      case ENOTDIR, EEXIST: "choose a folder; it is created if it does not exist"
      default: nil
      }
    self.init(path, "\(what): \(String(cString: strerror(code)))", advice: advice)
  }

  /// An error of SQLite: a result code, extended or not, and its text (sqlite3_errmsg). `system` is
  /// the last error of the operating system (sqlite3_system_errno).
  init(_ path: String, code: Int32, text: String, system: Int32 = 0) {
    let primary = code & 0xFF
    self.path = path
    let name = Self.codeNames[primary] ?? "SQLITE"
    self.code = code == primary ? name : "\(name) (\(code))"
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(primary) && system != 0
    reason = isOfSystem ? "\(text): \(String(cString: strerror(system)))" : text
    advice =
      switch primary {
      case SQLITE_FULL: Self.diskFullAdvice
      case SQLITE_IOERR where system == ENOSPC || system == EDQUOT: Self.diskFullAdvice
      case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: Self.permissionAdvice(path)
      case SQLITE_CORRUPT, SQLITE_NOTADB:
        Self.damageAdvice(path)
      case SQLITE_BUSY, SQLITE_LOCKED:
        "another process uses the file, for example a running server; stop it, or choose another "
          + "folder"
      case SQLITE_AUTH:
        "Waybridge begins and ends the transaction; throw an error to roll it back"
      default: nil
      }
  }

  /// An error of a damaged database. `part` is the file with the damage.
  init(damaged path: String, in part: String) {
    self.init(path, "\(part) is malformed", advice: Self.damageAdvice(path))
  }

  private static func damageAdvice(_ path: String) -> String {
    "the file is damaged or not a database, and was not changed; move it and \(path)-wal, if it "
      + "exists, to another folder, and start without them or with a backup"
  }

  private static let diskFullAdvice = "free space on its disk"

  private static func permissionAdvice(_ path: String) -> String {
    "let the user \(geteuid()) write to it and its folder, or choose another folder"
  }

  /// A sentence with the path, the problem and the solution.
  public var description: String {
    let name = code.map { " [\($0)]" } ?? ""
    return "\(path) cannot be used: \(reason)\(name)" + (advice.map { "; \($0)" } ?? "")
  }

  private static let codeNames: [Int32: String] = [
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

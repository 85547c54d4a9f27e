import WaySession

/// The subject of a session's log. A name in it has letters, digits and `-`, `_` only; any other
/// byte of an id is `=` and two hex digits.
enum Subject {
  private static let prefix = "waybridge.session."
  private static let escaping = RecordPercentCoding(mark: "=", keeping: "-_", isUppercase: false)
  /// Those of all sessions.
  static let all = prefix + "*"

  static func of(_ session: String) -> String { prefix + escaping.escaped(session) }

  /// The id of a session; nil for another subject.
  static func session(_ subject: String) -> String? {
    subject.hasPrefix(prefix) ? escaping.text(of: subject.dropFirst(prefix.count)) : nil
  }
}

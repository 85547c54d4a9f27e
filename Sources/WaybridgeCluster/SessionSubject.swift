import WaySession

/// The subject of a session's log. It encodes the session's id: letters, digits, `-` and `_` are
/// unchanged; any other byte is `=` and two hex digits.
enum SessionSubject {
  private static let prefix = "waybridge.session."
  private static let coding = StoredRecordPercentCoding(
    mark: "=", keeping: "-_", isUppercase: false)
  /// The subjects of all sessions.
  static let wildcard = prefix + "*"

  static func encode(_ session: String) -> String { prefix + coding.encoded(session) }

  /// Returns the id of a session; nil for another subject.
  static func decode(_ subject: String) -> String? {
    subject.hasPrefix(prefix) ? coding.decodedText(of: subject.dropFirst(prefix.count)) : nil
  }
}

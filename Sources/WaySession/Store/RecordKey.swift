/// The names of the parts that are kept of a session.
enum RecordKey {
  static let session = "session"
  static let stack = "stack"
  static let invitations = "invitations"
  static let links = "links"

  static func page(_ id: String) -> String { "page/\(id)" }

  /// Who a client is.
  static func client(_ number: Int) -> String { "client/\(number)" }

  /// How far a client has come.
  static func state(ofClient number: Int) -> String { "at/\(number)" }

  /// What a client was sent, by the number of its last message.
  static func frame(_ last: UInt64, ofClient number: Int) -> String {
    let digits = String(last)
    return "frame/\(number)/" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }

  private static let escaping = RecordPercentCoding(mark: "%", keeping: "-._~", isUppercase: true)

  /// `owner` and `text` are of the client's choice: they are written with `%` and two digits for each
  /// byte that is no letter, digit, `-`, `.`, `_` or `~` (RFC 3986 §2.3), since two texts of other
  /// bytes may be equal.
  static func key(owner: String?, _ text: String) -> String {
    "key/\(owner.map(escaping.escaped) ?? "")/\(escaping.escaped(text))"
  }

  /// Whose key a part is, and its text; nil for another part.
  static func key(of part: String) -> (owner: String?, text: String)? {
    guard let rest = rest(of: part, "key") else { return nil }
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let owner = escaping.text(of: parts[0]),
      let text = escaping.text(of: parts[1])
    else { return nil }
    return (owner.isEmpty ? nil : owner, text)
  }

  /// What stands behind the first slash of a name that begins with `kind`; nil for another kind.
  static func rest(of name: String, _ kind: String) -> String? {
    name.utf8.starts(with: "\(kind)/".utf8) ? String(name.dropFirst(kind.count + 1)) : nil
  }
}

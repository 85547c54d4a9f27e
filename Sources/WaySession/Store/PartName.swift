/// The names of the parts that are kept of a session.
enum PartName {
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

  static func key(owner: String?, _ text: String) -> String { "key/\(owner ?? "")/\(text)" }

  /// What stands behind the first slash of a name that begins with `kind`; nil for another kind.
  static func rest(of name: String, _ kind: String) -> String? {
    name.utf8.starts(with: "\(kind)/".utf8) ? String(name.dropFirst(kind.count + 1)) : nil
  }
}

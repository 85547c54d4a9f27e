/// The names of the stored parts of a session.
enum RecordKey {
  static let session = "session"
  static let stack = "stack"
  static let invitations = "invitations"
  static let deepLinks = "links"

  static func page(_ id: String) -> String { "page/\(id)" }

  /// The identity of a client.
  static func client(_ number: Int) -> String { "client/\(number)" }

  /// The sequence state of a client.
  static func state(ofClient number: Int) -> String { "at/\(number)" }

  /// A frame that a client was sent, by the number of its last message.
  static func frame(_ last: UInt64, ofClient number: Int) -> String {
    let digits = String(last)
    return "frame/\(number)/" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }

  private static let percentCoding = StoredRecordPercentCoding(
    mark: "%", keeping: "-._~", isUppercase: true)

  /// The part of an idempotency key. Clients choose `owner` and `text`, so their bytes are
  /// percent-encoded, except letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3). Two strings
  /// may be equal although their bytes differ.
  static func idempotencyKey(owner: String?, _ text: String) -> String {
    "key/\(owner.map(percentCoding.encoded) ?? "")/\(percentCoding.encoded(text))"
  }

  /// The owner and the text of the idempotency key in `part`; nil for another part.
  static func idempotencyKey(of part: String) -> (owner: String?, text: String)? {
    guard let rest = suffix(of: part, "key") else { return nil }
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let owner = percentCoding.decodedText(of: parts[0]),
      let text = percentCoding.decodedText(of: parts[1])
    else { return nil }
    return (owner.isEmpty ? nil : owner, text)
  }

  /// The rest of a name after the prefix `kind` and a slash; nil for another kind.
  static func suffix(of name: String, _ kind: String) -> String? {
    name.utf8.starts(with: "\(kind)/".utf8) ? String(name.dropFirst(kind.count + 1)) : nil
  }
}

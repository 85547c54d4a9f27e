/// A part of the stored state of a session. Each is stored under its ``name``, and replaced as a
/// whole.
enum SessionPart: Hashable {
  case session
  case stack
  case invitations
  case deepLinks
  case gates
  case page(String)
  /// The identity of a client.
  case client(ClientID)
  /// The position of a client in its messages, and its calls.
  case clientState(ClientID)
  /// A frame that a client was sent, by the number of its last message.
  case frame(last: UInt64, ClientID)
  case idempotencyKey(ScopedKey)

  private static let percentCoding = StoredRecordPercentCoding(
    mark: "%", keeping: "-._~", isUppercase: true)

  /// The name in the store.
  ///
  /// Clients choose the owner and the text of an idempotency key, so their bytes are
  /// percent-encoded, except letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3). Two strings
  /// may be equal although their bytes differ.
  var name: String {
    switch self {
    case .session: return "session"
    case .stack: return "stack"
    case .invitations: return "invitations"
    case .deepLinks: return "links"
    case .gates: return "gates"
    case .page(let id): return "page/\(id)"
    case .client(let number): return "client/\(number)"
    case .clientState(let number): return "at/\(number)"
    case .frame(let last, let client):
      let digits = String(last)
      return "frame/\(client)/" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
    case .idempotencyKey(let key):
      let owner = key.owner.map(Self.percentCoding.encoded) ?? ""
      return "key/\(owner)/\(Self.percentCoding.encoded(key.text))"
    }
  }

  /// Decodes a ``name``. Returns `nil` for any other text, also for another spelling of a number:
  /// only names have the order of their numbers.
  init?(name: String) {
    let words = name.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    let part: SessionPart? =
      switch (words[0], words.count) {
      case ("session", 1): .session
      case ("stack", 1): .stack
      case ("invitations", 1): .invitations
      case ("links", 1): .deepLinks
      case ("gates", 1): .gates
      case ("page", 2...): .page(String(name.utf8.dropFirst("page/".utf8.count)) ?? "")
      case ("client", 2): ClientID(words[1]).map(SessionPart.client)
      case ("at", 2): ClientID(words[1]).map(SessionPart.clientState)
      case ("frame", 3):
        if let client = ClientID(words[1]), let last = UInt64(words[2]) {
          .frame(last: last, client)
        } else {
          nil
        }
      case ("key", 3):
        if let owner = Self.percentCoding.decodedText(of: words[1]),
          let text = Self.percentCoding.decodedText(of: words[2])
        {
          .idempotencyKey(.init(owner: owner.isEmpty ? nil : owner, text: text))
        } else {
          nil
        }
      default: nil
      }
    guard let part, part.name.isSameUTF8(as: name) else { return nil }
    self = part
  }
}

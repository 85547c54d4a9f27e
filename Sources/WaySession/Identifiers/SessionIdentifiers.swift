import WayValues

/// The number of a client within its session.
typealias ClientID = Int

/// The number of a call within its session. Only calls that do not end at once have one.
typealias CallNumber = Int

/// An idempotency key with its owner, which separates it from the same key of others.
struct ScopedKey: Hashable {
  /// The owner of the key; `nil` for clients that share the session's keys.
  let owner: String?
  let text: String

  static func == (left: ScopedKey, right: ScopedKey) -> Bool {
    left.text.isSameUTF8(as: right.text)
      && left.owner.map(UTF8Key.init) == right.owner.map(UTF8Key.init)
  }

  func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }
}

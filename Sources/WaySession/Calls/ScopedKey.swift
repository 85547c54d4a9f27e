import WayValues

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

/// The request that is made under an idempotency key. A different request under the same key is an
/// error.
struct IdempotentRequest: Equatable, Codable {
  let method: String
  /// The URI, or the page and its method.
  let target: String
  let params: ValueObject

  /// The approximate memory of the request, in bytes.
  var size: Int { method.utf8.count + target.utf8.count + Value.object(params).size }
}

extension IdempotentRequest {
  static func == (left: IdempotentRequest, right: IdempotentRequest) -> Bool {
    left.method == right.method && left.target.isSameUTF8(as: right.target)
      && left.params == right.params
  }
}

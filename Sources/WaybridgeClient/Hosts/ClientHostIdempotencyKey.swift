import WayValues

/// An idempotency key of a call to a host.
struct ClientHostIdempotencyKey: Sendable {
  private let key: UTF8Key
  private let session: UTF8Key?
  private let user: UTF8Key?
  /// The program of an agent, the page of a guest, or the guest itself; nil for other callers, which
  /// share their keys.
  private let guest: UTF8Key?
  /// The called URI or method with its parameters, if the caller may repeat the call in another
  /// session: only a call of the host's own session can be the same call there.
  private let content: Value?

  /// Creates the key of a call. `content` is what is called, with its parameters; `session` is that
  /// of the host.
  init(
    _ key: String, _ content: Value, of caller: BridgeClient.CallerDescription?,
    in session: String?
  ) {
    let guest = caller?.isGuest == true ? caller : nil
    let isMember = guest == nil && caller?.session == session
    self.init(
      key: UTF8Key(key), session: caller.map { UTF8Key($0.session) },
      user: caller?.user.map { UTF8Key($0) },
      guest: guest?.keyOwner.map { UTF8Key($0) },
      content: isMember ? .some(content) : .none)
  }

  private init(key: UTF8Key, session: UTF8Key?, user: UTF8Key?, guest: UTF8Key?, content: Value?) {
    self.key = key
    self.session = session
    self.user = user
    self.guest = guest
    self.content = content
  }

  /// The key without the content, by which calls of other sessions are recognized.
  var withoutContent: ClientHostIdempotencyKey {
    ClientHostIdempotencyKey(key: key, session: session, user: user, guest: guest, content: nil)
  }

  /// Whether both keys are of one call. In a session the key decides. The content decides too if
  /// the session was replaced, since the server no longer rejects other calls with the key.
  func isSameCall(as other: ClientHostIdempotencyKey) -> Bool {
    guard key == other.key, user == other.user, guest == other.guest else { return false }
    if session == other.session { return true }
    guard let content, let otherContent = other.content else { return false }
    return content == otherContent
  }

  /// The approximate size in bytes of memory.
  var size: Int {
    let texts: [UTF8Key?] = [key, session, user, guest]
    return texts.reduce(content?.size ?? 0) { $0 + ($1?.text.utf8.count ?? 0) }
  }
}

extension BridgeClient.CallerDescription {
  /// The owner of a guest's keys.
  fileprivate var keyOwner: String? {
    if let id = agent?.id { return "agent \(id)" }
    return client?.page ?? client?.id
  }
}

/// Runs the work of one call at most once.
struct KeyedWork: Sendable {
  /// The idempotency key, as the caller chose it.
  let text: String
  private let key: ClientHostIdempotencyKey
  private let keys: ClientHostIdempotencyKeys

  init(
    _ text: String, _ content: Value, of caller: BridgeClient.CallerDescription?,
    in session: String?, _ keys: ClientHostIdempotencyKeys
  ) {
    self.text = text
    self.keys = keys
    key = ClientHostIdempotencyKey(text, content, of: caller, in: session)
  }

  /// Creates the key of a call that no other call shares, for tests of a handler.
  init(_ text: String) {
    self.init(
      text, .null, of: nil, in: nil, ClientHostIdempotencyKeys(on: nil, nanoseconds: { 0 }))
  }

  func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await keys.run(key, work)
  }
}

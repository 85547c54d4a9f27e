import WayRouting
import WayValues

/// A push that has reached no client with a connection. A push service can reach its user another
/// way, such as with a notification of the platform.
public struct AwayPush: Sendable, Hashable {
  /// The session whose clients have all lost their connections; `nil` if no session of the user has
  /// received the push.
  public internal(set) var session: String?
  /// The user of the session, or the user that the push is for; `nil` if the session has none.
  public internal(set) var user: String?
  /// `router.open`, `router.invoke`, `router.deliver` or `event`.
  public let method: String
  /// The URI, or the topic of the event.
  public let target: String
  /// The params of the URI, or the data of the event.
  public let params: Value
  /// The idempotency key; `nil` if the push has none. A push that is repeated under its key can be
  /// reported again.
  public let key: String?
  /// Whether the push waits until a client is back; otherwise it is lost.
  public internal(set) var isWaiting: Bool
  /// The time by the server's clock, in milliseconds since 1970-01-01 UTC.
  public let at: Int64

  /// Creates a push, for tests of push services.
  public init(
    session: String? = nil, user: String? = nil, method: String, target: String,
    params: Value = .null, key: String? = nil, isWaiting: Bool = true, at: Int64
  ) {
    self.session = session
    self.user = user
    self.method = method
    self.target = target
    self.params = params
    self.key = key
    self.isWaiting = isWaiting
    self.at = at
  }
}

extension AwayPush {
  /// Creates the description of a deep link that waits.
  init(_ link: DeepLink, at now: Int64) {
    self.init(
      method: "router.deliver", target: link.uri, params: .object(link.params), key: link.key,
      at: now)
  }
}

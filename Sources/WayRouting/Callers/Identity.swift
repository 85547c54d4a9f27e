import WayValues

/// The identity of a client, which the app derives from its token and handshake.
public struct Identity: Sendable, Hashable {
  /// The user, for `Audience.user`; `nil` if there is none.
  public var user: String?
  /// The groups of the user, for `Audience.group`, for the rules of a policy and for the
  /// ``Route/permissions`` of routes.
  public var groups: Set<String>
  /// Further facts about the client, for example the claims of a token.
  public var claims: ValueObject
  /// The expiry in milliseconds since 1970-01-01 UTC; `nil` for none. The client is closed then
  /// unless the identity has been renewed.
  public var expires: Int64?

  /// Creates an identity. Without arguments it is anonymous.
  public init(
    user: String? = nil, groups: Set<String> = [], claims: ValueObject = [:], expires: Int64? = nil
  ) {
    self.user = user
    self.groups = groups
    self.claims = claims
    self.expires = expires
  }
}

import WayValues

/// Who somebody is: what the app makes of the token and the handshake of a client.
public struct Identity: Sendable, Hashable {
  /// The user, for `Audience.user`; nil where there is none.
  public var user: String?
  /// The groups of the user, for `Audience.group`, for the rules of a policy and for the
  /// ``Route/permissions`` of routes.
  public var groups: Set<String>
  /// What else is known, the claims of a token for one.
  public var claims: ValueObject
  /// When it ends, in milliseconds since 1970-01-01 UTC; nil for never. The client is closed then
  /// unless it has been renewed.
  public var expires: Int64?

  /// Nobody in particular, where nothing is given.
  public init(
    user: String? = nil, groups: Set<String> = [], claims: ValueObject = [:], expires: Int64? = nil
  ) {
    self.user = user
    self.groups = groups
    self.claims = claims
    self.expires = expires
  }
}

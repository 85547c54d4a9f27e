import WayValues

/// The identity of a client, which the app derives from its token and handshake.
public struct Identity: Sendable, Hashable {
  /// The user, for `Audience.user`; `nil` if there is none. Compared as UTF-8 bytes.
  public var user: String?
  /// The groups of the user, for `Audience.group`, for the rules of a policy and for the
  /// ``Route/permissions`` of routes.
  public var groups: Set<UTF8Key>
  /// Further facts about the client, for example the claims of a token.
  public var claims: ValueObject
  /// The expiry in milliseconds since 1970-01-01 UTC; `nil` for none. The client is closed then
  /// unless the identity has been renewed.
  public var expires: Int64?

  /// Creates an identity. Without arguments it is anonymous.
  public init(
    user: String? = nil, groups: Set<UTF8Key> = [], claims: ValueObject = [:], expires: Int64? = nil
  ) {
    self.user = user
    self.groups = groups
    self.claims = claims
    self.expires = expires
  }
}

extension Identity {
  public static func == (left: Identity, right: Identity) -> Bool {
    left.hasUser(of: right) && left.groups == right.groups && left.claims == right.claims
      && left.expires == right.expires
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(user.map(UTF8Key.init))
    hasher.combine(groups)
    hasher.combine(claims)
    hasher.combine(expires)
  }

  /// The program that the token was made for: `client_id` (RFC 9068), or `azp` of OpenID Connect.
  package var program: String? { claims["client_id"]?.string ?? claims["azp"]?.string }

  /// Whether both belong to the same user, or both to none.
  package func hasUser(of other: Identity) -> Bool {
    user.map(UTF8Key.init) == other.user.map(UTF8Key.init)
  }

  /// Whether the user is in one of some groups.
  package func isMember(ofAny names: [String]) -> Bool {
    names.contains { groups.contains(UTF8Key($0)) }
  }
}

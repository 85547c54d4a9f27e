import Waybridge

/// Requirements on a token in addition to a signature.
public struct TokenRules: Sendable {
  /// The required audience: the token's `aud` is this string, or an array that contains it.
  public var audience: String
  /// The required issuer: the token's `iss` is exactly this string. Nil accepts any issuer, and
  /// tokens without one. Required for the keys of an identity provider.
  public var issuer: String?
  /// The claim with the user's groups. If the token has no claim of this name, dots lead into
  /// objects: `realm_access.roles` is the member `roles` of the claim `realm_access`.
  public var groupsClaim: String
  /// Whether a token must have an expiry (`exp`). A token without one is valid until its key is
  /// removed.
  public var requiresExpiry: Bool
  /// How long before its `nbf` a token is accepted, since the clock of its issuer may be ahead of
  /// this one. The expiry has no leeway.
  public var leeway: Duration
  /// The current time, in milliseconds since 1970. Called on any thread.
  public var now: @Sendable () -> Int64

  /// Creates rules; by default for tokens of any issuer for `waybridge` that expire, with the
  /// system's clock and a minute of leeway.
  public init(
    audience: String = "waybridge", issuer: String? = nil, groupsClaim: String = "groups",
    requiresExpiry: Bool = true, leeway: Duration = .seconds(60),
    now: (@Sendable () -> Int64)? = nil
  ) {
    self.audience = audience
    self.issuer = issuer
    self.groupsClaim = groupsClaim
    self.requiresExpiry = requiresExpiry
    self.leeway = leeway
    self.now = now ?? BridgeWallClock.milliseconds
  }

  /// Throws if a token has expired, or is not valid yet.
  func check(_ token: Token) throws(TokenError) {
    let now = now()
    if let expiresAt = token.expiresAt, expiresAt <= now {
      throw TokenError(.expired, "`exp`: the token has expired")
    }
    if let notBefore = token.notBefore, notBefore > now + Int64(leeway / .milliseconds(1)) {
      throw TokenError(.notYetValid, "`nbf`: the token is not valid yet")
    }
  }
}

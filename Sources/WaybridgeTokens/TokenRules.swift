import Waybridge

/// What is asked of a token beside a signature.
public struct TokenRules: Sendable {
  /// Whom a token must be for: its `aud` is this text, or an array that holds it.
  public var audience: String
  /// Whether a token has to say when it ends (`exp`). One that does not is good until its key is
  /// taken away.
  public var requiresExpiry: Bool
  /// How long before its `nbf` a token is taken, since the clock of who made it may be ahead of
  /// this one. A token's end is kept to the millisecond.
  public var leeway: Duration
  /// The time, in milliseconds since 1970. Called on any thread.
  public var now: @Sendable () -> Int64

  /// Tokens for `waybridge` that end some time, by the system's clock, with a minute of leeway.
  public init(
    audience: String = "waybridge", requiresExpiry: Bool = true, leeway: Duration = .seconds(60),
    now: (@Sendable () -> Int64)? = nil
  ) {
    self.audience = audience
    self.requiresExpiry = requiresExpiry
    self.leeway = leeway
    self.now = now ?? ServerWallClock.milliseconds
  }

  /// Throws where a token has ended, or has not begun.
  func check(_ token: Token) throws(TokenError) {
    let now = now()
    if let expires = token.expires, expires <= now {
      throw TokenError(.expired, "`exp`: the token has expired")
    }
    if let notBefore = token.notBefore, notBefore > now + Int64(leeway / .milliseconds(1)) {
      throw TokenError(.notYetValid, "`nbf`: the token is not valid yet")
    }
  }
}

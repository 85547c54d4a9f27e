import Waybridge

extension TokenKeys {
  /// Authenticates a client by its token, for `BridgeConfiguration.sessions.identify`. The user is the
  /// token's subject, its groups and claims are the user's, and the identity expires with the
  /// token. Throws ``TokenError``, and `CallError` if there is no token.
  ///
  /// ```swift
  /// import Waybridge
  /// import WaybridgeTokens
  ///
  /// let keys = try await TokenKeys.load(secretFile: "/etc/shop/secret")
  /// var configuration = BridgeConfiguration()
  /// configuration.sessions.identify = keys.identity
  /// ```
  public nonisolated func identity(of handshake: Handshake) async throws -> Identity {
    guard let text = handshake.token else {
      throw CallError(
        code: ErrorCode.notAuthenticated.rawValue,
        message: "there is none; send one with session.open, as Authorization: Bearer TOKEN, or as "
          + "the subprotocol bearer.TOKEN")
    }
    let token = try await verify(text)
    return Identity(
      user: token.subject, groups: Set(token.groups.map(UTF8Key.init)), claims: token.claims,
      expires: token.expiresAt)
  }
}

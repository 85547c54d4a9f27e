import WaybridgeTokens

extension CommandSettings {
  /// The keys that verify clients' tokens; nil if none are configured.
  func tokenKeys() async throws(CommandError) -> TokenKeys? {
    let keySetURL = tokenKeySetURL.isEmpty ? nil : tokenKeySetURL
    guard tokenSecretFile != nil || tokenKeyFile != nil || keySetURL != nil else {
      guard tokenIssuer.isEmpty else {
        throw CommandError(
          "--token-issuer has no effect without keys; add --token-jwks, --token-key-file or "
            + "--token-secret-file")
      }
      return nil
    }
    guard keySetURL == nil || !tokenIssuer.isEmpty else {
      throw CommandError(
        "the tokens' issuer is missing, which --token-jwks requires; add --token-issuer with their iss"
      )
    }
    var rules = tokenRules
    if !tokenIssuer.isEmpty { rules.issuer = tokenIssuer }
    do throws(TokenKeyError) {
      return try await TokenKeys.load(
        secretFile: tokenSecretFile, keyFile: tokenKeyFile, keySetURL: keySetURL, rules: rules,
        logger: logger)
    } catch {
      throw CommandError("\(error)")
    }
  }
}

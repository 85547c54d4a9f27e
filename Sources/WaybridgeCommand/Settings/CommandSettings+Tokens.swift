import WaybridgeTokens

extension CommandSettings {
  /// The keys that verify clients' tokens; nil if none are configured.
  func tokenKeys() async throws(CommandError) -> TokenKeys? {
    guard tokenSecretFile != nil || tokenKeyFile != nil else { return nil }
    do throws(TokenKeyError) {
      return try await TokenKeys.load(
        secretFile: tokenSecretFile, keyFile: tokenKeyFile, logger: logger)
    } catch {
      throw CommandError("\(error)")
    }
  }
}

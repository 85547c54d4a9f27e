import WaySession

extension BridgeServer {
  /// From now on the rules of another policy hold, for the calls of clients that are there too;
  /// what they host stays. Throws what is wrong with a rule, and then nothing has changed; and
  /// `CallError` 2503 while the server does not run.
  public func follow(_ policy: Policy) async throws {
    let rulebook = try policy.rulebook()
    try await hub().follow(rulebook)
  }
}

/// A store that several servers share. A session belongs to one server at a time. Another server
/// takes it over when its server has stopped or has released it.
package protocol SharedSessionStore: SessionStore {
  /// Takes over a session without an owner, for the owner that was given to
  /// ``SessionStore/load(as:)``. Returns nil if the session does not exist or has an owner; another
  /// server may have been faster. Throws if the store cannot be used, or if the stored session
  /// cannot be read.
  func takeOver(_ session: String) async throws -> StoredSession?

  /// Takes over all sessions without an owner, and calls `adopt` for each as soon as it is taken
  /// over. Returns the owners of other sessions. The cost grows with the data of all servers;
  /// writes meanwhile do not wait for it. If it throws, sessions for which `adopt` was called are
  /// taken over.
  func takeOverAll(_ adopt: @Sendable (StoredSession) async -> Void) async throws -> Set<String>
}

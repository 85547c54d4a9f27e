/// A store that several servers share. A session is one server's at a time, and another takes it over
/// where that one is gone, or has released it.
package protocol SharedSessionStore: SessionStore {
  /// Takes a session over that is nobody's, for who has loaded. Nil where it is not there, or is
  /// somebody's: another server may have been faster. Throws where the store cannot be used, and
  /// where what it has of the session cannot be read.
  func take(_ session: String) async throws -> StoredSession?

  /// Takes over all sessions that nobody has, hands each on as soon as it is taken, and tells who has
  /// others; that costs by what all servers keep. What is written meanwhile does not wait for it.
  /// Where it throws, those that were handed on are taken.
  func takeAll(_ taken: @Sendable (StoredSession) async -> Void) async throws -> Set<String>
}

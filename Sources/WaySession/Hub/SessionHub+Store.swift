import WayRPC
import WayTransport

extension SessionHub {
  /// Takes up the sessions that are kept, before anybody is let in. Throws where the store cannot be
  /// used. A session that cannot be read stays in the store, and is told to the observer.
  package func restore() async throws {
    guard let writer, let store = configuration.store else { return }
    for stored in try await store.load(as: writer.owner) { take(up: stored, writer) }
  }

  private func take(up stored: StoredSession, _ writer: StoreWriter) {
    do {
      let session = try Restoring.session(stored, in: self, writer)
      guard session.assumeIsolated({ !$0.members.isEmpty }) else {
        return session.assumeIsolated { $0.end() }
      }
      add(session)
      configuration.observer.tell(stored.id, .restored)
      session.assumeIsolated { LinkFollowing.goOn(in: $0) }
    } catch {
      configuration.observer.tell(stored.id, .unreadable(reason: "\(error)"))
    }
  }

  /// Hands over what is left to the store, and gives that back. Nothing may change afterwards.
  package func closeStore() async {
    await writer?.settle()
    await writer?.close()
  }
}

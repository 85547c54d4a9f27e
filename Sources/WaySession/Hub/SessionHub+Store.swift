import WayRPC
import WayTransport

extension SessionHub {
  /// Goes on with a session that was kept.
  func take(up stored: StoredSession) {
    guard let writer else { return }
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

  /// Hands over what is left to the store.
  func settleStore() async {
    await writer?.settle()
  }

  /// Waits for what has been handed over to the store.
  func finishWriting() async {
    await writer?.finishWriting()
  }
}

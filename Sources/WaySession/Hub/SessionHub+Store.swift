import WayRPC
import WayTransport

extension LoopSessions {
  /// Goes on with a session that was kept.
  func take(up stored: StoredSession) {
    guard let writer else { return }
    if let fault = stored.fault {
      return configuration.observer.tell(stored.id, .unreadable(reason: fault))
    }
    do {
      let session = try SessionSnapshotReader.session(stored, in: self, writer)
      guard session.assumeIsolated({ !$0.members.isEmpty }) else {
        return session.assumeIsolated { $0.end() }
      }
      add(session)
      if cutOffReason != nil { session.assumeIsolated { ClientResume.pause(in: $0) } }
      configuration.observer.tell(stored.id, .restored)
      session.assumeIsolated { DeepLinkRunner.goOn(in: $0) }
    } catch {
      group.unreadable.withLock { _ = $0.insert(stored.id) }
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

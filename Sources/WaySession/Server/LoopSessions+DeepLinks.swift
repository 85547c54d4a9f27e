import WayRouting
import WayTransport
import WayValues

// Deep links that the app delivers.
extension LoopSessions {
  /// Delivers a deep link to every session of an audience that has hosts or can open it. A session
  /// that the audience names receives it in any case. Returns when the sessions have stored it.
  func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights?, _ copies: DeepLinkCopies,
    into collector: PushCollector
  ) async {
    let isSingle = audience.isSingleSession
    let targets = targets(in: audience)
    let ready = isSingle ? targets : targets.filter { isReady($0.session, for: link) }
    let unclaimed =
      isSingle
      ? nil
      : UnclaimedLinks.UnclaimedLink(
        link, for: audience, by: rights,
        expiresAt: configuration.now() + UnclaimedLinks.lifetime)
    for (session, _) in ready {
      let outcome = deliver(link, to: session, by: rights, unclaimed, isSingle ? nil : copies)
      collector.add(outcome, session: session.id, user: audiences.identity(of: session.id).user)
    }
    for (session, _) in ready { await session.waitUntilStored() }
  }

  private func deliver(
    _ link: DeepLink, to session: Session, by rights: Rights?,
    _ unclaimed: UnclaimedLinks.UnclaimedLink?, _ copies: DeepLinkCopies?
  ) -> PushOutcome {
    session.assumeIsolated { PushRunner.deliver(link, by: rights, unclaimed, copies, in: $0) }
  }

  private func isReady(_ session: Session, for link: DeepLink) -> Bool {
    session.assumeIsolated {
      !$0.resolver.hosts.isEmpty || DeepLinkRunner.canOpen(link, in: $0)
    }
  }

  /// Has the sessions open the pending deep links that they can open.
  func offerDeepLinks() {
    for session in Array(sessions.values) {
      session.assumeIsolated { DeepLinkRunner.hostsChanged(in: $0) }
    }
  }
}

extension Session {
  /// Returns when the store has what has changed so far, or cannot store it.
  fileprivate func waitUntilStored() async {
    guard let journal, journal.barrier != nil else { return }
    await withCheckedContinuation { continuation in
      let signal = StoredSignal(continuation)
      journal.whenStored { signal.send() }
    }
  }
}

/// Resumes a task that waits for the store, at the latest when nothing can notify it any more.
private final class StoredSignal: Sendable {
  private let continuation: Locked<CheckedContinuation<Void, Never>?>

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = Locked(continuation)
  }

  deinit { send() }

  func send() {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume()
  }
}

extension Audience {
  /// Whether it names one session, with or without one of its clients.
  var isSingleSession: Bool {
    switch self {
    case .session, .client: true
    case .all, .user, .group: false
    }
  }
}

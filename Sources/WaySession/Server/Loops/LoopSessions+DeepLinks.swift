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
    let unclaimed =
      isSingle
      ? nil
      : UnclaimedLinks.UnclaimedLink(
        link, for: audience, by: rights,
        expiresAt: configuration.now() + UnclaimedLinks.lifetime)
    var unstored: [Session] = []
    await scheduler.beginPush()
    await forEachSession(in: audience, .send) { session, _ in
      guard isSingle || isReady(session, for: link) else { return }
      let outcome = deliver(link, to: session, by: rights, unclaimed, isSingle ? nil : copies)
      collector.add(outcome, session: session.id, user: audiences.identity(of: session.id).user)
      if session.assumeIsolated({ $0.journal?.barrier != nil }) { unstored.append(session) }
    }
    scheduler.endPush()
    for session in unstored { await session.waitUntilStored() }
  }

  private func deliver(
    _ link: DeepLink, to session: Session, by rights: Rights?,
    _ unclaimed: UnclaimedLinks.UnclaimedLink?, _ copies: DeepLinkCopies?
  ) -> PushOutcome {
    session.assumeIsolated { $0.deliver(link, by: rights, unclaimed, copies) }
  }

  private func isReady(_ session: Session, for link: DeepLink) -> Bool {
    session.assumeIsolated {
      !$0.resolver.hosts.isEmpty || $0.deepLinkConditions.canOpen(link)
    }
  }

  /// Has the sessions open the pending deep links that they can open.
  func offerDeepLinks() async {
    // An offer that has not begun covers links that were added since.
    guard !isOfferQueued else { return }
    isOfferQueued = true
    var hasBegun = false
    await forEachSession(.send) { session in
      if !hasBegun {
        hasBegun = true
        isOfferQueued = false
      }
      session.assumeIsolated { $0.offerDeepLinks() }
    }
    if !hasBegun { isOfferQueued = false }
  }
}

extension Session {
  /// Returns when the store has what has changed so far, or is unavailable. Returns false if the
  /// change was not stored because another server has the session.
  @discardableResult
  func waitUntilStored() async -> Bool {
    guard let journal, journal.barrier != nil else { return true }
    return await withCheckedContinuation { continuation in
      let signal = StoredSignal(continuation)
      journal.whenStored { signal.send(true) }
    }
  }
}

/// Resumes a task that waits for the store, at the latest when nothing can notify it any more.
private final class StoredSignal: Sendable {
  private let continuation: Locked<CheckedContinuation<Bool, Never>?>

  init(_ continuation: CheckedContinuation<Bool, Never>) {
    self.continuation = Locked(continuation)
  }

  deinit { send(false) }

  func send(_ isStored: Bool) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: isStored)
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

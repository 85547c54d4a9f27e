import WayRouting
import WayValues

// Links from outside that the app's side hands over.
extension LoopSessions {
  /// Hands a link to every session of an audience that has hosts or can serve it, and to one that is
  /// named in any case; gives what came of each.
  func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights?
  ) -> [Result<Void, CallError>] {
    let targets = targets(in: audience)
    let ready = audience.isOneSession ? targets : targets.filter { isReady($0.session, for: link) }
    return ready.map { session, _ in
      session.assumeIsolated { session in
        Result { () throws(CallError) in
          try DeepLinkRunner.deliver(link, by: rights ?? session.ownRights, to: session)
        }
      }
    }
  }

  private func isReady(_ session: Session, for link: DeepLink) -> Bool {
    session.assumeIsolated {
      !$0.guide.hosts.isEmpty || DeepLinkRunner.isServed(link, $0.guide)
    }
  }

  /// Has the sessions follow those that wait and that they can serve.
  func offerLinks() {
    for session in Array(sessions.values) {
      session.assumeIsolated { DeepLinkRunner.hostsChanged(in: $0) }
    }
  }
}

extension Audience {
  /// Whether it names one session, with or without its client.
  var isOneSession: Bool {
    switch self {
    case .session, .client: true
    case .all, .user, .group: false
    }
  }
}

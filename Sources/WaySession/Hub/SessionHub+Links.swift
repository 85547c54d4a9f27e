import WayRouting
import WayValues

// Links from outside that the app's side hands over.
extension SessionHub {
  /// Hands a link to every session of an audience that has hosts or can serve it. Where there is
  /// none yet, the next one that belongs to it and registers a host for it gets the link; it comes
  /// back when that one ends before the link was followed. Fails with -32602 for a text that is no
  /// URI, and with 2429 when too many wait.
  package func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights? = nil
  ) throws(CallError) {
    let targets = targets(in: audience)
    let ready = audience.isOneSession ? targets : targets.filter { isReady($0.session, for: link) }
    guard !ready.isEmpty else { return try expectedLinks.add(link, for: audience, by: rights) }
    for (session, _) in ready {
      try session.assumeIsolated { session in
        Result { () throws(CallError) in
          try LinkFollowing.deliver(link, by: rights ?? session.ownRights, to: session)
        }
      }.get()
    }
  }

  private func isReady(_ session: Session, for link: DeepLink) -> Bool {
    session.assumeIsolated {
      !$0.guide.hosts.isEmpty || LinkFollowing.isServed(link, $0.guide)
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

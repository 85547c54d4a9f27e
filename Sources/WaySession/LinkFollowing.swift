import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// Follows links from outside of the app: each once, as soon as somebody can serve it.
enum DeepLinkRunner {
  /// Takes a link, to be followed in its turn; `client` is for whom it is kept, and `rights` are
  /// those of who has handed it over. Fails for a text that is no URI, with 2403, and with 2429 when
  /// too many wait.
  static func deliver(
    _ link: DeepLink, for client: Client? = nil, by rights: Rights,
    to session: isolated Session
  ) throws(CallError) {
    try link.check()
    if let said = try? session.guide.look(
      up: link.uri, link.params, checking: false, for: rights.caller)
    {
      try rights.check(.deliver, said)
    }
    let charge = try client?.charge(link.size)
    try session.links.add(PendingLinks.Waiting(link: link, rights: rights, charge: charge))
    session.journal?.note(RecordKey.links)
    goOn(in: session)
  }

  /// A member has declared what it shows or runs: links that came before anybody was there, and
  /// that can be served now, are followed here.
  static func hostsChanged(in session: isolated Session) {
    let guide = session.guide
    let owner = session.environment.owner
    let left = owner.takeLinks(for: session.id).filter { expected in
      guard isServed(expected.link, guide) else { return true }
      do {
        try session.links.add(
          PendingLinks.Waiting(
            link: expected.link, rights: expected.rights ?? session.ownRights,
            expected: expected))
        session.journal?.note(RecordKey.links)
        return false
      } catch {
        return true
      }
    }
    owner.putBack(left)
    goOn(in: session)
  }

  /// Follows the first link that is due. To be called whenever that may have changed.
  static func goOn(in session: isolated Session) {
    let guide = session.guide
    guard let next = session.links.next({ isDue($0, guide) }) else { return }
    Task {
      let running = await follow(next.link, next.rights, in: session)
      session.links.followed(isRunning: running != nil)
      session.journal?.note(RecordKey.links)
      if let running {
        Task {
          await running.value
          session.links.taskEnded()
          goOn(in: session)
        }
      }
      goOn(in: session)
    }
  }

  /// Whether a link need not wait any longer: it can be opened, or has failed for good. While the
  /// session has no host at all it has only begun, and a URI that nobody serves may be one that a
  /// host is about to declare.
  private static func isDue(_ link: DeepLink, _ guide: SessionDestinationResolver) -> Bool {
    let hasHosts = !guide.hosts.isEmpty
    do {
      let destination = try guide.destination(of: link.uri, link.params, checking: false)
      return destination.isServed || hasHosts
    } catch {
      switch error.protocolCode {
      case .hostAbsent: return false
      case .noRoute: return hasHosts
      default: return true
      }
    }
  }

  /// Whether a link can be opened in a session.
  static func isServed(_ link: DeepLink, _ guide: SessionDestinationResolver) -> Bool {
    let destination = try? guide.destination(of: link.uri, link.params, checking: false)
    return destination?.isServed ?? false
  }

  /// Returns when its page is shown, or its task has begun, which it then gives.
  private static func follow(
    _ link: DeepLink, _ rights: Rights, in session: isolated Session
  ) async -> Task<Void, Never>? {
    for parent in parents(of: link, rights.caller, in: session) {
      // A parent that cannot be shown must not cost the page itself.
      let options = SessionCallOptions(rights: rights, method: .deliver, style: .popTo)
      _ = await SessionAppCalls.start(parent.text, options, in: session)
    }
    let options = SessionCallOptions(rights: rights, method: .deliver, params: link.params)
    return await SessionAppCalls.start(link.uri, options, in: session)
  }

  private static func parents(
    of link: DeepLink, _ caller: Caller, in session: isolated Session
  ) -> [RouteURI] {
    do { return try session.guide.parents(of: link, for: caller) } catch {
      session.happenings.tellNowhere(link.uri, error, by: caller)
      return []
    }
  }
}

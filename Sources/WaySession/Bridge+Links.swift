import WayRPC
import WayRouting

/// A link for sessions that do not exist yet.
struct ExpectedLink {
  let link: DeepLink
  let audience: Audience
}

// Links from outside that the app's side hands over.
extension Bridge {
  /// Hands a link to every session of an audience. Where there is none yet, the next one that belongs to it gets the
  /// link. Fails with -32602 for a text that is no URI, and with 2429 when too many wait.
  package func deliver(_ link: DeepLink, to audience: Audience) throws(TaskError) {
    let targets = targets(in: audience)
    guard targets.isEmpty else {
      for (session, _) in targets {
        let taken = session.assumeIsolated { session in
          Result { () throws(RPCError) in try session.deliver(link) }
        }
        if case .failure(let error) = taken { throw error.taskError }
      }
      return
    }
    try Self.check(link)
    guard expectedLinks.count < settings.limits.maxLinks else {
      throw RPCError(
        .tooMany, "\(settings.limits.maxLinks) links wait for a session that can open them"
      ).taskError
    }
    expectedLinks.append(ExpectedLink(link: link, audience: audience))
  }

  /// Fails with -32602 for a text that is no URI with a scheme.
  package static func check(_ link: DeepLink) throws(TaskError) {
    do { try link.check() } catch { throw error.taskError }
  }

  /// Hands a session that has just begun the links that waited for it.
  func deliverExpected(to session: Session) {
    guard !expectedLinks.isEmpty else { return }
    var left: [ExpectedLink] = []
    for expected in expectedLinks {
      guard audiences.contains(session.id, in: expected.audience) else {
        left.append(expected)
        continue
      }
      let taken = session.assumeIsolated { session in
        Result { () throws(RPCError) in try session.deliver(expected.link) }
      }
      if case .failure = taken { left.append(expected) }
    }
    expectedLinks = left
  }
}

import WayRouting
import WayTransport
import WayValues

/// Claims the pending deep links that a session of another server may open. A response has a part of
/// them (``UnclaimedLinkRecord``).
struct ClaimDeepLinksOperation: PeerOperation, Codable {
  static let method = "peer.links"
  /// Bytes of deep links in one response, after which no further one is added.
  private static let maxBytes = 1 << 20

  let session: String
  let user: String?
  let groups: [String]

  func run(in context: PeerContext) -> [Value] {
    let user = user.map(UTF8Key.init)
    let groups = Set(groups.map(UTF8Key.init))
    let server = context.server
    let links = server.unclaimedLinks.withLock { links in
      links.claim(at: server.configuration.now(), maxBytes: Self.maxBytes) { link in
        // The limits of a guest are only known here.
        guard link.rights?.isUndelegated != false else { return false }
        return link.audience.includes(session, of: user, in: groups)
      }
    }
    return links.map { RecordCoder.value(of: UnclaimedLinkRecord($0)) }
  }
}

/// A deep link that waits for a session, in the form that another server gets.
struct UnclaimedLinkRecord: Codable {
  private let link: DeepLinkRecord
  private let audience: Audience
  private let caller: PeerCaller
  private let expiresAt: Int64

  init(_ link: UnclaimedLinks.UnclaimedLink) {
    self.link = DeepLinkRecord(link.deepLink)
    audience = link.audience
    caller = PeerCaller(link.rights)
    expiresAt = link.expiresAt
  }

  /// The link. Fails with 2403 if its sender has limits.
  var unclaimedLink: UnclaimedLinks.UnclaimedLink {
    get throws(CallError) {
      UnclaimedLinks.UnclaimedLink(
        link.link, for: audience, by: try caller.rights(validAt: 0), expiresAt: expiresAt)
    }
  }
}

extension SessionDispatch {
  /// Fetches pending deep links that a session may open from the servers that have some.
  func fetchDeepLinks(for session: String, of identity: Identity) {
    guard let cluster else { return }
    let servers = cluster.others.filter { ($0.presence["links"]?.integer ?? 0) > 0 }
    guard !servers.isEmpty else { return }
    let operation = ClaimDeepLinksOperation(
      session: session, user: identity.user, groups: identity.groups.sortedTexts)
    Task {
      var hasLinks = false
      for (server, _) in servers {
        // Each response has a part of the links.
        while let links = try? await send(operation, to: server), !links.isEmpty {
          hasLinks = true
          let fetched = links.compactMap { unclaimedLink($0, from: server) }
          sessionServer.unclaimedLinks.withLock { $0.adopt(fetched) }
        }
      }
      if hasLinks {
        for loopSessions in sessionServer.sessionsByLoop { await loopSessions.offerDeepLinks() }
      }
    }
  }

  /// Reads a deep link of another server, which has removed it. Logs an error if it cannot be read.
  private func unclaimedLink(
    _ value: Value, from server: String
  ) -> UnclaimedLinks.UnclaimedLink? {
    do {
      return try RecordCoder.decode(UnclaimedLinkRecord.self, from: value, "link").unclaimedLink
    } catch {
      sessionServer.configuration.logger?.error(
        "a deep link of another server cannot be read and is lost",
        metadata: ["server": "\(server)", "reason": "\(error)"])
      return nil
    }
  }
}

import WayRouting
import WayValues

/// Links for sessions that do not exist yet.
struct ExpectedLinks {
  struct Link {
    let link: DeepLink
    let audience: Audience
  }

  private var links: [Link] = []
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Keeps a link. Fails with -32602 for a text that is no URI, and with 2429 when too many wait.
  mutating func add(_ link: DeepLink, for audience: Audience) throws(CallError) {
    try link.check()
    guard links.count < limit else {
      throw CallError(.tooMany, "\(limit) links wait for a session that can open them")
    }
    links.append(Link(link: link, audience: audience))
  }

  /// Hands out those that `isMeant` holds for, in their order.
  mutating func take(where isMeant: (Audience) -> Bool) -> [Link] {
    guard !links.isEmpty else { return [] }
    let taken = links.filter { isMeant($0.audience) }
    links.removeAll { isMeant($0.audience) }
    return taken
  }

  /// Keeps one again that could not be handed over.
  mutating func putBack(_ link: Link) { links.append(link) }
}

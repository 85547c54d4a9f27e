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
  mutating func take(where isMeant: (Link) -> Bool) -> [Link] {
    guard !links.isEmpty else { return [] }
    let wanted = links.map(isMeant)
    defer { links = zip(links, wanted).filter { !$1 }.map(\.0) }
    return zip(links, wanted).filter { $1 }.map(\.0)
  }

  /// Keeps those again that could not be followed where they were handed over: they came first.
  mutating func putBack(_ unfollowed: [Link]) { links = unfollowed + links }
}

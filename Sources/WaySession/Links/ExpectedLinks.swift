import WayRouting
import WayValues

/// Links for sessions that do not exist yet.
struct UnclaimedLinks {
  struct Link {
    let link: DeepLink
    let audience: Audience
    /// Those of who has handed it over; nil for the app.
    var rights: Rights?
    /// A later one has a higher number.
    var number = 0
  }

  private var links: [Link] = []
  private var lastNumber = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// How many wait.
  var count: Int { links.count }

  /// Keeps a link. Fails with -32602 for a text that is no URI, and with 2429 when too many wait.
  mutating func add(
    _ link: DeepLink, for audience: Audience, by rights: Rights? = nil
  ) throws(CallError) {
    try link.check()
    guard links.count < limit else {
      throw CallError(.tooMany, "\(limit) links wait for a session that can open them")
    }
    lastNumber += 1
    links.append(Link(link: link, audience: audience, rights: rights, number: lastNumber))
  }

  /// Hands out those that `isMeant` holds for, in their order.
  mutating func take(where isMeant: (Link) -> Bool) -> [Link] {
    guard !links.isEmpty else { return [] }
    let wanted = links.map(isMeant)
    defer { links = zip(links, wanted).filter { !$1 }.map(\.0) }
    return zip(links, wanted).filter { $1 }.map(\.0)
  }

  /// Keeps those again, in their places, that could not be followed where they were handed over.
  mutating func putBack(_ unfollowed: [Link]) {
    guard !unfollowed.isEmpty else { return }
    links = (unfollowed + links).sorted { $0.number < $1.number }
  }
}

import WayRouting
import WayTransport
import WayValues

/// Deep links for sessions that do not exist yet. They are limited for each audience, so that the
/// links for one user do not use up the room of the others.
struct UnclaimedLinks {
  struct UnclaimedLink {
    let deepLink: DeepLink
    let audience: Audience
    /// The rights of the sender; `nil` for the app.
    var rights: Rights?
    /// The number of the link; a later link has a higher number.
    var number = 0
    /// When the link is dropped, in milliseconds since 1970-01-01 UTC.
    var expiresAt = Int64.max
    /// The memory charge of the link.
    fileprivate(set) var charge: ByteBudget.Charge?

    init(
      _ deepLink: DeepLink, for audience: Audience, by rights: Rights? = nil, number: Int = 0,
      expiresAt: Int64 = .max, charge: ByteBudget.Charge? = nil
    ) {
      self.deepLink = deepLink
      self.audience = audience
      self.rights = rights
      self.number = number
      self.expiresAt = expiresAt
      self.charge = charge
    }

    /// The name of the link's key among those of a session; `nil` if it has none.
    var keyName: ScopedKey? {
      deepLink.key.map {
        ScopedKey(owner: Rights.pushKeyOwner(rights), text: $0)
      }
    }
  }

  /// How long a link waits, in milliseconds: a day.
  static let lifetime: Int64 = 86_400_000
  /// How many links wait for all audiences.
  static let maxTotal = 4096
  /// Bytes of all links.
  private static let maxBytes = 16 << 20
  /// Bytes of the links for one audience.
  private static let maxAudienceBytes = 2 << 20

  private var links: [UnclaimedLink] = []
  private var lastNumber = 0
  private let limit: Int
  private let budget: ByteBudget

  /// `limit` is the maximum number of links for one audience; `budget` is the server's.
  init(limit: Int, within budget: ByteBudget) {
    self.limit = limit
    self.budget = ByteBudget(.server, Self.maxBytes, within: budget)
  }

  /// The number of links that wait.
  var count: Int { links.count }

  /// Adds a link; does nothing if the same link waits under the same key. `now` is in milliseconds
  /// since 1970-01-01 UTC.
  ///
  /// Fails with -32602 if the text is not a URI, with 2409 if another link has the key, and with
  /// 2429 if too many links wait.
  mutating func add(
    _ link: DeepLink, for audience: Audience, by rights: Rights? = nil, at now: Int64
  ) throws(CallError) {
    try link.validate()
    links.removeAll { $0.expiresAt <= now }
    let sameAudience = links.filter { $0.audience == audience }
    var added = UnclaimedLink(link, for: audience, by: rights)
    if let name = added.keyName, let known = sameAudience.first(where: { $0.keyName == name }) {
      guard known.deepLink.request == link.request else { throw .keyConflict(name.text) }
      return
    }
    let bytes = sameAudience.reduce(link.size) { $0 + $1.deepLink.size }
    guard sameAudience.count < limit, links.count < Self.maxTotal, bytes <= Self.maxAudienceBytes
    else {
      throw CallError(
        .tooMany,
        "\(sameAudience.count) deep links already wait for a session that can open them")
    }
    do { added.charge = try budget.charge(link.size) } catch {
      throw CallError(error, for: link.size)
    }
    added.expiresAt = now + Self.lifetime
    append(added)
  }

  /// Adds links that have waited at another server. That server has applied the limits.
  mutating func adopt(_ others: [UnclaimedLink]) {
    for link in others { append(link) }
  }

  private mutating func append(_ link: UnclaimedLink) {
    lastNumber += 1
    var link = link
    link.number = lastNumber
    links.append(link)
  }

  /// Removes and returns the links for which `isMeant` is true, in their order, until they have
  /// `maxBytes`. `now` is in milliseconds since 1970-01-01 UTC.
  mutating func claim(
    at now: Int64, maxBytes: Int = .max, where isMeant: (UnclaimedLink) -> Bool
  ) -> [UnclaimedLink] {
    guard !links.isEmpty else { return [] }
    links.removeAll { $0.expiresAt <= now }
    var claimed: [UnclaimedLink] = []
    var remaining: [UnclaimedLink] = []
    var bytes = 0
    for link in links {
      if bytes < maxBytes, isMeant(link) {
        bytes += link.deepLink.size
        claimed.append(link)
      } else {
        remaining.append(link)
      }
    }
    links = remaining
    return claimed
  }

  /// Removes the links of clients with these names.
  mutating func remove(from clients: Set<String>) {
    links.removeAll { $0.rights?.isOfClient(in: clients) == true }
  }

  /// Puts back links, in their order, that could not be opened by the session that claimed them.
  mutating func restore(_ unopened: [UnclaimedLink]) {
    guard !unopened.isEmpty else { return }
    links = (unopened + links).sorted { $0.number < $1.number }
  }
}

extension CallError {
  /// The error of a request under an idempotency key that stands for another request.
  static func keyConflict(_ key: String) -> CallError {
    CallError(
      .conflict, "The idempotency key \(key.quoted) was already used for a different call")
  }
}

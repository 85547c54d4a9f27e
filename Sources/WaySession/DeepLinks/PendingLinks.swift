import WayRouting
import WayTransport
import WayValues

/// The deep links of one session that are not yet followed, in the order in which they arrived.
///
/// Links are opened one after another: one that is being opened blocks the others until its page is
/// shown or its task has started, or until it has to wait for something else. A link whose host is
/// lost before it has shown the page waits again.
struct PendingLinks {
  /// The number of a link within its session; a later link has a higher number.
  typealias LinkNumber = Int

  struct PendingLink {
    let deepLink: DeepLink
    /// The rights of the sender.
    let rights: Rights
    /// The owner of the link's idempotency key.
    var keyOwner: String?
    /// The link as it was unclaimed, with its audience. It becomes unclaimed again if the session
    /// ends before it was opened.
    var unclaimedLink: UnclaimedLinks.UnclaimedLink?
    /// The copies of the link in other sessions; `nil` if this is the only one.
    var copies: DeepLinkCopies?
    /// The memory charge; `nil` for a link from before a restart.
    var charge: ByteBudget.Charge?
    fileprivate(set) var number: LinkNumber = 0
  }

  private enum LinkPhase {
    case waiting
    /// It waits until the rights that its sender has now are known.
    case held
    /// Its page, or one below it, is being opened.
    case opening
    /// Its task has started. The link counts as followed, unless its host is lost before it has
    /// got the request.
    case started
  }

  private struct LinkEntry {
    let link: PendingLink
    var phase = LinkPhase.waiting
    /// The host that got the last request; `nil` if it is no client of the session.
    var host: ClientID?
    /// How often the link was opened.
    var attempts = 0

    /// Whether the client of a caller has sent the link.
    func isSent(by sender: Caller) -> Bool {
      link.rights.caller.client.map { UTF8Key($0.id) } == sender.client.map { UTF8Key($0.id) }
    }
  }

  /// How often a link is opened at most. Each further attempt follows the loss of its host, which
  /// the link itself may cause.
  static let maxAttempts = 5

  private var entries: [LinkEntry] = []
  private var lastNumber: LinkNumber = 0
  /// The link that the others wait for.
  private var blockingNumber: LinkNumber?
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of links that wait or are being opened.
  var count: Int { entries.count(where: { $0.phase != .started }) }

  /// The links that wait.
  var waiting: [PendingLink] { entries.filter { $0.phase == .waiting }.map(\.link) }

  /// Whether the next link may be opened.
  var canBegin: Bool {
    blockingNumber == nil && entries.count(where: { $0.phase == .started }) < limit
  }

  /// The host of the link that the others wait for.
  var blockingHost: ClientID? { blockingNumber.flatMap(host(of:)) }

  /// Adds a link. Fails with 2429 if too many wait.
  mutating func add(_ link: PendingLink) throws(CallError) {
    guard count - (blockingNumber == nil ? 0 : 1) < limit else {
      throw CallError(
        .tooMany, "\(limit) deep links already wait for a host that can open them",
        data: ["limit": .integer(Int64(limit))])
    }
    restore(link)
  }

  /// Adds a link from before a restart, when the limit may have been another one.
  mutating func restore(_ link: PendingLink) {
    lastNumber += 1
    var link = link
    link.number = lastNumber
    entries.append(LinkEntry(link: link))
  }

  /// Holds the links that wait and whose sender, which may have changed at a time in milliseconds
  /// since 1970-01-01 UTC, is this one, until ``release(linksOf:)``.
  mutating func hold(linksOf sender: Caller, at now: Int64) {
    for index in entries.indices
    where entries[index].phase == .waiting && entries[index].isSent(by: sender)
      && entries[index].link.rights.outdatedCaller(at: now) != nil
    {
      entries[index].phase = .held
    }
  }

  /// Lets the links of a sender that are held wait again. Returns their rights.
  mutating func release(linksOf sender: Caller) -> [Rights] {
    var rights: [Rights] = []
    for index in entries.indices
    where entries[index].phase == .held && entries[index].isSent(by: sender) {
      entries[index].phase = .waiting
      rights.append(entries[index].link.rights)
    }
    return rights
  }

  /// Ends the rights of the links that clients with these names have sent. Returns the links that are
  /// not being opened yet.
  mutating func revoke(_ clients: Set<String>) -> [PendingLink] {
    let sent = entries.filter { $0.link.rights.isOfClient(in: clients) }
    for entry in sent { entry.link.rights.revoke() }
    return sent.filter { $0.phase == .waiting || $0.phase == .held }.map(\.link)
  }

  /// Begins to open a link that waits. The others wait for it.
  mutating func begin(_ number: LinkNumber) {
    guard let index = index(of: number) else { return }
    entries[index].phase = .opening
    entries[index].attempts += 1
    blockingNumber = number
  }

  /// Returns a link that is being opened.
  func opening(_ number: LinkNumber) -> PendingLink? {
    guard let index = index(of: number), entries[index].phase == .opening else { return nil }
    return entries[index].link
  }

  /// Records the host that gets the request for a link; `nil` if it is no client of the session.
  mutating func setHost(_ host: ClientID?, of number: LinkNumber) {
    if let index = index(of: number) { entries[index].host = host }
  }

  /// Returns the host that got the last request for a link.
  func host(of number: LinkNumber) -> ClientID? { index(of: number).flatMap { entries[$0].host } }

  /// Whether the other links wait for a link.
  func isBlocking(_ number: LinkNumber) -> Bool { blockingNumber == number }

  /// Ends the wait of the other links, although the one that they wait for is not opened yet.
  mutating func unblock() { blockingNumber = nil }

  /// Records that the task of a link has started.
  mutating func start(_ number: LinkNumber) {
    guard let index = index(of: number) else { return }
    entries[index].phase = .started
    entries[index].link.copies?.markFollowed()
    if blockingNumber == number { blockingNumber = nil }
  }

  /// Removes a link that is followed, or has failed for good. Returns whether the ``record`` has
  /// changed.
  mutating func finish(_ number: LinkNumber) -> Bool {
    guard let index = index(of: number) else { return false }
    let removed = entries.remove(at: index)
    removed.link.copies?.markFollowed()
    if blockingNumber == number { blockingNumber = nil }
    return removed.phase != .started
  }

  /// Lets a link wait again at its place. Returns false if it was opened too often.
  mutating func requeue(_ number: LinkNumber) -> Bool {
    guard let index = index(of: number), entries[index].attempts < Self.maxAttempts else {
      return false
    }
    entries[index].phase = .waiting
    entries[index].host = nil
    if blockingNumber == number { blockingNumber = nil }
    return true
  }

  private func index(of number: LinkNumber) -> Int? {
    entries.firstIndex { $0.link.number == number }
  }

  /// The stored record of all links that their senders may still deliver, including those that are
  /// being opened: until that is done, they may be opened once more.
  var record: ValueObject {
    [
      "waiting": .array(
        entries.filter { $0.phase != .started && !$0.link.rights.isRevoked }.map { entry in
          var members = entry.link.deepLink.record
          members["caller"] = entry.link.rights.caller.record
          members["keyOwner"] = entry.link.keyOwner.map(Value.string)
          members["to"] = entry.link.unclaimedLink?.audience.value
          return .object(members)
        })
    ]
  }

  /// Removes all links. Returns those that other sessions may open too.
  mutating func removeAll() -> [UnclaimedLinks.UnclaimedLink] {
    defer {
      entries = []
      blockingNumber = nil
    }
    return entries.compactMap { entry in
      guard entry.phase != .started, entry.link.copies?.remove() != false else { return nil }
      return entry.link.unclaimedLink
    }
  }
}

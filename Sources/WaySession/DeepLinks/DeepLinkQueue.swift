import WayRouting
import WayTransport
import WayValues

/// The deep links of one session that are not yet followed, in the order in which they arrived.
///
/// One that is being opened blocks the others. It does so until it is removed, waits again, or has
/// its task started, or until ``unblock()``.
struct DeepLinkQueue {
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

  private enum LinkPhase: Equatable {
    case waiting
    /// It waits until the rights that its sender has now are known.
    case held
    /// It waits until this gate is open.
    case gated(String)
    /// Its page, or one below it, is being opened.
    case opening
    /// Its task has started. The link counts as followed, unless its host is lost before it has
    /// got the request.
    case started
  }

  private struct LinkEntry {
    let link: PendingLink
    var phase = LinkPhase.waiting
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
  private(set) var blockingNumber: LinkNumber?
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of links that wait or are being opened.
  var count: Int { entries.count(where: { $0.phase != .started }) }

  /// The links that wait.
  var waiting: [PendingLink] { entries.filter { $0.phase == .waiting }.map(\.link) }

  /// All links that their senders may still deliver, including those that are being opened: until
  /// that is done, they may be opened once more. These are stored.
  var storedLinks: [PendingLink] {
    entries.filter { $0.phase != .started && !$0.link.rights.isRevoked }.map(\.link)
  }

  /// Whether the next link may be opened.
  var canBegin: Bool {
    blockingNumber == nil && entries.count(where: { $0.phase == .started }) < limit
  }

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

  /// Ends the rights of the links that clients with these names have sent. Removes and returns the
  /// links that are not being opened yet.
  mutating func revoke(_ clients: Set<String>) -> [PendingLink] {
    let sent = entries.filter { $0.link.rights.isOfClient(in: clients) }
    for entry in sent { entry.link.rights.revoke() }
    let removed = sent.filter { $0.phase != .opening && $0.phase != .started }.map(\.link)
    for link in removed { _ = finish(link.number) }
    return removed
  }

  /// Begins to open a link that waits. The others wait for it.
  mutating func begin(_ number: LinkNumber) {
    guard let index = index(of: number) else { return }
    entries[index].phase = .opening
    entries[index].attempts += 1
    blockingNumber = number
  }

  /// Ends the wait of the other links, although the one that they wait for is not opened yet.
  mutating func unblock() { blockingNumber = nil }

  /// Records that the task of a link has started.
  mutating func start(_ number: LinkNumber) {
    guard let index = index(of: number) else { return }
    entries[index].phase = .started
    entries[index].link.copies?.markFollowed()
    endBlock(by: number)
  }

  /// Removes a link that is followed, or has failed for good. Returns whether ``storedLinks``
  /// have changed.
  mutating func finish(_ number: LinkNumber) -> Bool {
    guard let index = index(of: number) else { return false }
    let removed = entries.remove(at: index)
    removed.link.copies?.markFollowed()
    endBlock(by: number)
    return removed.phase != .started
  }

  /// Lets a link wait again at its place. Returns false if it was opened too often.
  mutating func requeue(_ number: LinkNumber) -> Bool {
    guard let index = index(of: number), entries[index].attempts < Self.maxAttempts else {
      return false
    }
    entries[index].phase = .waiting
    endBlock(by: number)
    return true
  }

  /// Lets a link that is being opened wait at a gate. The others do not wait for it.
  mutating func wait(_ number: LinkNumber, at gate: String) {
    guard let index = index(of: number) else { return }
    entries[index].phase = .gated(gate)
    // The link is opened for the first time when it has passed the gate.
    entries[index].attempts -= 1
    endBlock(by: number)
  }

  /// Lets the links at a gate wait for their turn, at their places.
  mutating func release(waitingAt gate: String) {
    for index in entries.indices where entries[index].phase == .gated(gate) {
      entries[index].phase = .waiting
    }
  }

  /// Removes and returns the links at a gate.
  mutating func remove(waitingAt gate: String) -> [PendingLink] {
    let removed = entries.filter { $0.phase == .gated(gate) }.map(\.link)
    for link in removed { _ = finish(link.number) }
    return removed
  }

  private mutating func endBlock(by number: LinkNumber) {
    if blockingNumber == number { blockingNumber = nil }
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

  private func index(of number: LinkNumber) -> Int? {
    entries.firstIndex { $0.link.number == number }
  }
}

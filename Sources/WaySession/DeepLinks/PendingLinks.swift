import WayRouting
import WayTransport
import WayValues

/// The deep links of one session that are not yet followed, in the order in which they arrived.
///
/// Links are opened one after another: one that is being opened blocks the others until its page is
/// shown or its task has started, or until it has to wait for something else. A link whose host is
/// lost before it has shown the page waits again.
///
/// It decides under ``DeepLinkConditions``, and the session performs the returned effects.
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

  /// An effect for the session to perform. Effects are performed in the order in which they are
  /// returned; a call is the last of them, since it may end at once and have further effects.
  enum DeepLinkEffect {
    /// ``PendingLinks/storedLinks`` have changed.
    case recordChange
    /// Call ``open(_:_:)`` once the messages of the current operation are sent.
    case open(LinkNumber)
    /// Make a call, with ``callBegan(_:for:holdTimer:)``, and report what becomes of it.
    case call(LinkCall)
    /// Find out the rights that a sender has now, for ``senderFound(_:_:_:)``.
    case findSender(Caller)
    /// Call ``retrySender(_:_:)`` after ``senderRetryDelay``.
    case waitForSender(Caller)
    /// Report that a link which has waited is not opened, because its sender may not open it.
    case refuse(DeepLink, CallError, by: Caller)
    /// Report that the pages below the page of a link cannot be opened.
    case reportFailure(String, CallError, by: Caller)
  }

  /// A call that opens the page of a link, or one below it.
  struct LinkCall {
    let link: LinkNumber
    let uri: String
    let options: SessionCallOptions
    /// The host of the page; nil if it is no client of the session.
    let host: ClientID?
    /// Whether the page is the link's own.
    let isLast: Bool
  }

  private struct AwaitedCall {
    let number: CallNumber
    let isLast: Bool
    /// Fires when the link has to block others no longer.
    var holdTimer: (any ScheduledWork)?
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
    /// The pages below the link's page that are not yet opened, lowest first; nil before the link is
    /// opened.
    var parents: ArraySlice<String>?
    var awaitedCall: AwaitedCall?

    /// Whether the client of a caller has sent the link.
    func isSent(by sender: Caller) -> Bool {
      link.rights.caller.client.map { UTF8Key($0.id) } == sender.client.map { UTF8Key($0.id) }
    }
  }

  /// How often a link is opened at most. Each further attempt follows the loss of its host, which
  /// the link itself may cause.
  static let maxAttempts = 5
  /// How long a link that an interceptor holds blocks the others.
  static let maxHold: Duration = .seconds(1)
  /// How long the links of a sender wait if a server that may have it has not responded.
  static let senderRetryDelay: Duration = .seconds(2)

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
  var blockingHost: ClientID? {
    blockingNumber.flatMap(index(of:)).flatMap { entries[$0].host }
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

  /// Removes a link that is followed, or has failed for good. Returns whether ``storedLinks``
  /// have changed.
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
    entries[index].parents = nil
    if blockingNumber == number { blockingNumber = nil }
    return true
  }

  private func index(of number: LinkNumber) -> Int? {
    entries.firstIndex { $0.link.number == number }
  }

  /// All links that their senders may still deliver, including those that are being opened: until
  /// that is done, they may be opened once more. These are stored.
  var storedLinks: [PendingLink] {
    entries.filter { $0.phase != .started && !$0.link.rights.isRevoked }.map(\.link)
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

// Decisions.
extension PendingLinks {
  /// Decides which link is opened next: the first that is due.
  mutating func openNext(_ conditions: DeepLinkConditions) -> [DeepLinkEffect] {
    guard conditions.opensLinks else { return [] }
    var effects: [DeepLinkEffect] = []
    while canBegin, let next = waiting.first(where: { conditions.isDue($0.deepLink) }) {
      guard let sender = next.rights.outdatedCaller(at: conditions.now) else {
        begin(next.number)
        // The response to the request that delivered the link is sent first.
        effects.append(.open(next.number))
        break
      }
      // The links of the sender do not block others meanwhile.
      hold(linksOf: sender.caller, at: conditions.now)
      effects.append(.findSender(sender.caller))
    }
    return effects
  }

  /// Opens the lowest page below a link's page that is not yet opened, or the link's page if there is
  /// none. A link whose sender may no longer open it is removed.
  mutating func open(
    _ number: LinkNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let index = index(of: number), entries[index].phase == .opening else { return [] }
    let link = entries[index].link
    let (deepLink, caller) = (link.deepLink, link.rights.caller)
    var effects: [DeepLinkEffect] = []
    if entries[index].parents == nil {
      do throws(CallError) {
        // Rights may have ended, and routes changed, since the link was delivered.
        try conditions.check(deepLink, by: link.rights)
      } catch {
        return [.refuse(deepLink, error, by: caller)] + complete(number, conditions)
      }
      do throws(CallError) {
        let parents = try conditions.resolver.parents(of: deepLink, for: caller)
        entries[index].parents = parents.map(\.text)[...]
      } catch {
        entries[index].parents = []
        effects.append(.reportFailure(deepLink.uri, error, by: caller))
      }
    }
    let parent = entries[index].parents?.popFirst()
    return effects + [.call(call(for: link, parent: parent, conditions))]
  }

  private func call(
    for link: PendingLink, parent: String?, _ conditions: DeepLinkConditions
  ) -> LinkCall {
    let deepLink = link.deepLink
    if let parent {
      return LinkCall(
        link: link.number, uri: parent,
        options: SessionCallOptions(rights: link.rights, method: .deliver, style: .popTo),
        host: conditions.host(of: parent, [:]), isLast: false)
    }
    let key = deepLink.key.map {
      RouterIdempotencyKey(session: conditions.session, owner: link.keyOwner, text: $0)
    }
    let options = SessionCallOptions(
      rights: link.rights, method: .deliver, params: deepLink.params, exts: deepLink.exts,
      style: deepLink.style, idempotencyKey: key)
    return LinkCall(
      link: link.number, uri: deepLink.uri, options: options,
      host: conditions.host(of: deepLink.uri, deepLink.params), isLast: true)
  }

  /// Records that a call for a link begins. `holdTimer` reports to ``holdTimeEnded(of:isHeld:_:)``
  /// after ``maxHold``.
  mutating func callBegan(
    _ number: CallNumber, for call: LinkCall, holdTimer: any ScheduledWork
  ) {
    guard let index = index(of: call.link) else { return holdTimer.cancel() }
    entries[index].host = call.host
    entries[index].awaitedCall = AwaitedCall(
      number: number, isLast: call.isLast, holdTimer: holdTimer)
  }

  /// Lets the next link be opened if a call `isHeld` by an interceptor or by a module that is loading,
  /// or its host has lost its connection.
  mutating func holdTimeEnded(
    of call: CallNumber, isHeld: Bool, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let index = index(ofCall: call) else { return [] }
    entries[index].awaitedCall?.holdTimer = nil
    guard isBlocking(entries[index].link.number),
      isHeld || entries[index].host.map(conditions.isLost) == true
    else { return [] }
    unblock()
    return openNext(conditions)
  }

  /// Opens the next link if the one that it waits for is at a host that has lost its connection. Call
  /// this when a client has disconnected.
  mutating func clientDisconnected(_ conditions: DeepLinkConditions) -> [DeepLinkEffect] {
    guard let host = blockingHost, conditions.isLost(host) else { return [] }
    unblock()
    return openNext(conditions)
  }

  /// Handles that the page of a call is shown.
  mutating func pageShown(
    by call: CallNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let (number, isLast) = endWait(for: call) else { return [] }
    return isLast ? complete(number, conditions) : [.open(number)]
  }

  /// Handles that the task of a call has started.
  mutating func taskStarted(
    by call: CallNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let index = index(ofCall: call) else { return [] }
    guard entries[index].awaitedCall?.isLast == true else {
      return pageShown(by: call, conditions)
    }
    entries[index].awaitedCall?.holdTimer?.cancel()
    start(entries[index].link.number)
    return [.recordChange] + openNext(conditions)
  }

  /// Handles the end of a call. A link whose host is lost before it has shown the page is opened
  /// again, at the next host.
  mutating func callEnded(
    _ call: CallNumber, _ error: CallError?, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let (number, isLast) = endWait(for: call) else { return [] }
    let isClosing = conditions.state.isClosing
    switch error {
    case nil where isLast: return complete(number, conditions)
    case let error? where isLast && !isClosing:
      guard mayRetry(number, after: error, conditions), requeue(number) else {
        return complete(number, conditions)
      }
      return [.recordChange] + openNext(conditions)
    // A page below that cannot be shown must not prevent the page itself.
    case _ where !isClosing: return [.open(number)]
    // The next start of the server, or another session, opens the link.
    default:
      _ = requeue(number)
      return []
    }
  }

  /// Records what a sender may do now, which is not known if `status` is nil.
  mutating func senderFound(
    _ sender: Caller, _ status: CallerStatus?, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let status else { return [.waitForSender(sender)] }
    for rights in release(linksOf: sender) {
      rights.outdatedCaller(at: conditions.now)?.update(status, at: conditions.now)
    }
    return openNext(conditions)
  }

  /// Lets the links of a sender whose rights are not known wait again.
  mutating func retrySender(
    _ sender: Caller, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    _ = release(linksOf: sender)
    return openNext(conditions)
  }

  /// Removes the links that clients with these names have sent, because an administrator has removed
  /// the clients. Returns nil if there were none.
  mutating func remove(
    from clients: Set<String>, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect]? {
    let links = revoke(clients)
    guard !links.isEmpty else { return nil }
    for link in links { _ = finish(link.number) }
    let refusals = links.map { link in
      DeepLinkEffect.refuse(link.deepLink, .rightsEnded, by: link.rights.caller)
    }
    return [.recordChange] + refusals + openNext(conditions)
  }

  /// Removes a link that is followed, or has failed for good, and opens the next one.
  private mutating func complete(
    _ number: LinkNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    let hasChanged = finish(number)
    return (hasChanged ? [.recordChange] : []) + openNext(conditions)
  }

  /// Ends the wait for a call. Returns its link; nil if the wait has ended before.
  private mutating func endWait(for call: CallNumber) -> (link: LinkNumber, isLast: Bool)? {
    guard let index = index(ofCall: call), let awaited = entries[index].awaitedCall.take() else {
      return nil
    }
    awaited.holdTimer?.cancel()
    return (entries[index].link.number, awaited.isLast)
  }

  private func index(ofCall call: CallNumber) -> Int? {
    entries.firstIndex { $0.awaitedCall?.number == call }
  }

  /// Whether a link that has failed with an error may be opened again without being followed twice.
  private func mayRetry(
    _ number: LinkNumber, after error: CallError, _ conditions: DeepLinkConditions
  ) -> Bool {
    switch error.protocolCode {
    case .hostAbsent:
      guard error.data?["retryable"] != false, let index = index(of: number) else { return false }
      return entries[index].host.map(conditions.isLost) == true
        || !conditions.isDue(entries[index].link.deepLink)
    // The host was reloaded, and the page with it.
    case .hostFailed: return error.data?["host"] == nil && error.kind != "unreadable"
    default: return false
    }
  }
}

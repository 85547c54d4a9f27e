import WayRouting
import WayTransport
import WayValues

/// Decides which deep link of one session is opened next, by which calls, and what becomes of it.
///
/// Links are opened one after another: one that is being opened blocks the others until its page is
/// shown or its task has started, or until it has to wait for something else. A link whose host is
/// lost before it has shown the page waits again.
///
/// It decides under ``DeepLinkConditions``, and the session performs the returned effects.
struct PendingLinks {
  typealias LinkNumber = DeepLinkQueue.LinkNumber

  /// An effect for the session to perform. Effects are performed in the order in which they are
  /// returned; a call is the last of them, since it may end at once and have further effects.
  enum DeepLinkEffect {
    /// ``PendingLinks/storedLinks`` have changed.
    case recordChange
    /// Call ``open(_:_:)`` once the messages of the current operation are sent.
    case open(LinkNumber)
    /// Make a call, with ``callBegan(_:for:holdTimer:)``, and report what becomes of it.
    case call(DeepLinkCall)
    /// Open the page of a gate, and report with ``gateOpened(_:_:)`` or ``gateRefused(_:_:_:)`` what
    /// becomes of it.
    case ask(Gate, for: DeepLink)
    /// Find out the rights that a sender has now, for ``senderFound(_:_:_:)``.
    case findSender(Caller)
    /// Call ``retrySender(_:_:)`` after ``senderRetryDelay``.
    case waitForSender(Caller)
    /// Report that a link which has waited is not opened, because its sender may not open it.
    case refuse(DeepLink, CallError, by: Caller)
    /// Report that the pages below the page of a link cannot be opened.
    case reportFailure(String, CallError, by: Caller)
  }

  private struct AwaitedCall {
    let number: CallNumber
    let isLast: Bool
    /// Fires when the link has to block others no longer.
    var holdTimer: (any ScheduledWork)?
  }

  /// The progress of a link that is being opened, or whose task has started.
  private struct LinkOpening {
    let link: DeepLinkQueue.PendingLink
    /// The pages below the link's page that are not yet opened, lowest first; nil before the link's
    /// rights are checked.
    var parents: ArraySlice<String>?
    /// The host that got the last request; `nil` if it is no client of the session.
    var host: ClientID?
    var awaitedCall: AwaitedCall?
  }

  /// How long a link that an interceptor holds blocks the others.
  static let maxHold: Duration = .seconds(1)
  /// How long the links of a sender wait if a server that may have it has not responded.
  static let senderRetryDelay: Duration = .seconds(2)

  private var queue: DeepLinkQueue
  private var openings: [LinkNumber: LinkOpening] = [:]

  init(limit: Int) {
    queue = DeepLinkQueue(limit: limit)
  }

  /// The number of links that wait or are being opened.
  var count: Int { queue.count }

  /// The links to store.
  var storedLinks: [DeepLinkQueue.PendingLink] { queue.storedLinks }

  /// Adds a link. Fails with 2429 if too many wait.
  mutating func add(_ link: DeepLinkQueue.PendingLink) throws(CallError) { try queue.add(link) }

  /// Adds a link from before a restart.
  mutating func restore(_ link: DeepLinkQueue.PendingLink) { queue.restore(link) }

  /// Removes all links. Returns those that other sessions may open too.
  mutating func removeAll() -> [UnclaimedLinks.UnclaimedLink] {
    openings = [:]
    return queue.removeAll()
  }

  /// Decides which link is opened next: the first that is due.
  mutating func openNext(_ conditions: DeepLinkConditions) -> [DeepLinkEffect] {
    guard conditions.opensLinks else { return [] }
    var effects: [DeepLinkEffect] = []
    while queue.canBegin,
      let next = queue.waiting.first(where: { conditions.isDue($0.deepLink, of: $0.rights.caller) })
    {
      guard let sender = next.rights.outdatedCaller(at: conditions.now) else {
        queue.begin(next.number)
        openings[next.number] = LinkOpening(link: next)
        // The response to the request that delivered the link is sent first.
        effects.append(.open(next.number))
        break
      }
      // The links of the sender do not block others meanwhile.
      queue.hold(linksOf: sender.caller, at: conditions.now)
      effects.append(.findSender(sender.caller))
    }
    return effects
  }

  /// Opens the lowest page below a link's page that is not yet opened, or the link's page if there is
  /// none. A link whose sender may no longer open it is removed.
  mutating func open(
    _ number: LinkNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let opening = openings[number] else { return [] }
    let link = opening.link
    let (deepLink, caller) = (link.deepLink, link.rights.caller)
    var effects: [DeepLinkEffect] = []
    if opening.parents == nil {
      do throws(CallError) {
        // Rights may have ended, and routes changed, since the link was delivered.
        try conditions.check(deepLink, by: link.rights)
      } catch {
        return [.refuse(deepLink, error, by: caller)] + complete(number, conditions)
      }
      do throws(CallError) {
        let parents = try conditions.resolver.parents(of: deepLink, for: caller)
        openings[number]?.parents = parents.map(\.text)[...]
      } catch {
        openings[number]?.parents = []
        effects.append(.reportFailure(deepLink.uri, error, by: caller))
      }
      // The link and its parents pass their gates at once, before any of them is opened.
      if let gate = conditions.closedGate(of: deepLink, by: caller) {
        openings[number] = nil
        queue.wait(number, at: gate.name)
        return effects + [.ask(gate, for: deepLink)] + openNext(conditions)
      }
    }
    let parent = openings[number]?.parents?.popFirst()
    let call =
      parent.map { DeepLinkCall(opening: $0, below: link, conditions) }
      ?? DeepLinkCall(opening: link, conditions)
    return effects + [.call(call)]
  }

  /// Records that a call for a link begins. `holdTimer` reports to ``holdTimeEnded(of:isHeld:_:)``
  /// after ``maxHold``.
  mutating func callBegan(
    _ number: CallNumber, for call: DeepLinkCall, holdTimer: any ScheduledWork
  ) {
    guard openings[call.link] != nil else { return holdTimer.cancel() }
    openings[call.link]?.host = call.host
    openings[call.link]?.awaitedCall = AwaitedCall(
      number: number, isLast: call.isLast, holdTimer: holdTimer)
  }

  /// Lets the next link be opened if a call `isHeld` by an interceptor or by a module that is loading,
  /// or its host has lost its connection.
  mutating func holdTimeEnded(
    of call: CallNumber, isHeld: Bool, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    guard let (number, opening) = opening(ofCall: call) else { return [] }
    openings[number]?.awaitedCall?.holdTimer = nil
    guard queue.blockingNumber == number,
      isHeld || opening.host.map(conditions.isLost) == true
    else { return [] }
    queue.unblock()
    return openNext(conditions)
  }

  /// Opens the next link if the one that it waits for is at a host that has lost its connection. Call
  /// this when a client has disconnected.
  mutating func clientDisconnected(_ conditions: DeepLinkConditions) -> [DeepLinkEffect] {
    guard let number = queue.blockingNumber, let host = openings[number]?.host,
      conditions.isLost(host)
    else { return [] }
    queue.unblock()
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
    guard let (number, opening) = opening(ofCall: call) else { return [] }
    guard opening.awaitedCall?.isLast == true else { return pageShown(by: call, conditions) }
    opening.awaitedCall?.holdTimer?.cancel()
    queue.start(number)
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
    for rights in queue.release(linksOf: sender) {
      rights.outdatedCaller(at: conditions.now)?.update(status, at: conditions.now)
    }
    return openNext(conditions)
  }

  /// Lets the links of a sender whose rights are not known wait again.
  mutating func retrySender(
    _ sender: Caller, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    _ = queue.release(linksOf: sender)
    return openNext(conditions)
  }

  /// Opens the links that have waited at a gate, which is open now.
  mutating func gateOpened(
    _ gate: String, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    queue.release(waitingAt: gate)
    return openNext(conditions)
  }

  /// Removes the links that have waited at a gate, which was not opened.
  mutating func gateRefused(_ gate: String, _ error: CallError) -> [DeepLinkEffect] {
    let links = queue.remove(waitingAt: gate)
    guard !links.isEmpty else { return [] }
    return [.recordChange]
      + links.map { .refuse($0.deepLink, error, by: $0.rights.caller) }
  }

  /// Removes the links that clients with these names have sent, because an administrator has removed
  /// the clients. Returns nil if there were none.
  mutating func remove(
    from clients: Set<String>, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect]? {
    let links = queue.revoke(clients)
    guard !links.isEmpty else { return nil }
    let refusals = links.map { link in
      DeepLinkEffect.refuse(link.deepLink, .rightsEnded, by: link.rights.caller)
    }
    return [.recordChange] + refusals + openNext(conditions)
  }

  /// Removes a link that is followed, or has failed for good, and opens the next one.
  private mutating func complete(
    _ number: LinkNumber, _ conditions: DeepLinkConditions
  ) -> [DeepLinkEffect] {
    openings[number] = nil
    let hasChanged = queue.finish(number)
    return (hasChanged ? [.recordChange] : []) + openNext(conditions)
  }

  /// Lets a link wait again. Returns false if it was opened too often.
  private mutating func requeue(_ number: LinkNumber) -> Bool {
    guard queue.requeue(number) else { return false }
    openings[number] = nil
    return true
  }

  /// Ends the wait for a call. Returns its link; nil if the wait has ended before.
  private mutating func endWait(for call: CallNumber) -> (link: LinkNumber, isLast: Bool)? {
    guard let number = opening(ofCall: call)?.link,
      let awaited = openings[number]?.awaitedCall.take()
    else { return nil }
    awaited.holdTimer?.cancel()
    return (number, awaited.isLast)
  }

  private func opening(ofCall call: CallNumber) -> (link: LinkNumber, opening: LinkOpening)? {
    openings.first { $0.value.awaitedCall?.number == call }.map { ($0.key, $0.value) }
  }

  /// Whether a link that has failed with an error may be opened again without being followed twice.
  private func mayRetry(
    _ number: LinkNumber, after error: CallError, _ conditions: DeepLinkConditions
  ) -> Bool {
    switch error.protocolCode {
    case .hostAbsent:
      guard error.data?["retryable"] != false, let opening = openings[number] else {
        return false
      }
      return opening.host.map(conditions.isLost) == true
        || !conditions.isDue(opening.link.deepLink, of: opening.link.rights.caller)
    // The host was reloaded, and the page with it.
    case .hostFailed: return error.data?["host"] == nil && error.kind == ErrorCode.hostFailed.kind
    default: return false
    }
  }
}

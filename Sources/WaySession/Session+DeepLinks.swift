import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

// Deep links: each is opened once, as soon as a handler or a connected host can serve it. Performs
// what ``PendingLinks`` decides.
extension Session {
  var deepLinkConditions: DeepLinkConditions {
    DeepLinkConditions(
      session: id, identity: identity, resolver: resolver, clients: clients, gates: gates,
      state: state,
      isPersisted: isPersisted, now: environment.now())
  }

  /// Accepts a deep link that was pushed to the session, once under its key `name`. Fails as
  /// ``deliver(_:for:by:keyOwner:_:copies:)`` and ``performOnce(_:_:_:)``.
  func deliver(
    _ link: DeepLink, by rights: Rights, under name: ScopedKey?,
    _ unclaimed: UnclaimedLinks.UnclaimedLink?, copies: DeepLinkCopies? = nil
  ) throws(CallError) -> DeepLinkState {
    guard let name else { return try deliver(link, by: rights, unclaimed, copies: copies) }
    let response = try performOnce(name, link.request) { () throws(CallError) in
      let state = try deliver(
        link, by: rights, keyOwner: name.owner, unclaimed, copies: copies)
      return .value(state.value)
    }
    return DeepLinkState(response.value)
  }

  /// Accepts a deep link, to be opened in turn. Its memory is charged to `client`, or to the session
  /// if there is none; `rights` are those of its sender. `keyOwner` is the owner of its key.
  ///
  /// Fails with -32602 if the text is not a URI, with 2403, and with 2429 if too many links wait.
  @discardableResult
  func deliver(
    _ link: DeepLink, for client: Client? = nil, by rights: Rights, keyOwner: String? = nil,
    _ unclaimed: UnclaimedLinks.UnclaimedLink? = nil, copies: DeepLinkCopies? = nil
  ) throws(CallError) -> DeepLinkState {
    try link.validate()
    let conditions = deepLinkConditions
    // A sender that may have changed is checked when the link is opened.
    if rights.outdatedCaller(at: conditions.now) == nil { try conditions.check(link, by: rights) }
    let charge: ByteBudget.Charge
    if let client {
      charge = try client.charge(link.size)
    } else {
      do { charge = try clients.budget.charge(link.size) } catch {
        throw CallError(error, for: link.size)
      }
    }
    let state: DeepLinkState =
      conditions.opensLinks && conditions.isDue(link, of: rights.caller) ? .followed : .waiting
    try pendingLinks.add(
      DeepLinkQueue.PendingLink(
        deepLink: link, rights: rights, keyOwner: keyOwner, unclaimedLink: unclaimed,
        copies: copies, charge: charge))
    copies?.add()
    journal?.recordChange(.deepLinks)
    openDeepLinks()
    return state
  }

  /// Opens the deep links that arrived before any client could serve them and that can be served
  /// now. Call this after a client has registered hosts or has reconnected.
  func offerDeepLinks() {
    claimDeepLinks()
    openDeepLinks()
  }

  /// Claims the unclaimed deep links that the session can open now.
  private func claimDeepLinks() {
    let conditions = deepLinkConditions
    guard !isOfRequest, conditions.opensLinks else { return }
    let remaining = environment.owner.claimDeepLinks(for: id).filter { unclaimed in
      !conditions.canOpen(unclaimed.deepLink) || !accept(unclaimed)
    }
    environment.owner.restoreDeepLinks(remaining)
  }

  /// Accepts an unclaimed deep link, unless the session has received it before under its key, or its
  /// sender may no longer open it. Returns false if it has to wait for another session.
  private func accept(_ unclaimed: UnclaimedLinks.UnclaimedLink) -> Bool {
    let name = unclaimed.keyName
    if let name, idempotencyKeys.contains(name, at: loop.nanoseconds) { return true }
    let rights = unclaimed.rights ?? appRights
    do throws(CallError) {
      _ = try deliver(unclaimed.deepLink, by: rights, under: name, unclaimed)
      return true
    } catch {
      guard error.isRefusal else { return false }
      perform([.refuse(unclaimed.deepLink, error, by: rights.caller)])
      return true
    }
  }

  /// Opens the first deep link that is due. Call this whenever a link may have become due.
  func openDeepLinks() { perform(pendingLinks.openNext(deepLinkConditions)) }

  /// Opens the next deep link if the one that it waits for is at a host that has lost its
  /// connection. Call this when a client has disconnected.
  func openDeepLinksOfLostHost() { perform(pendingLinks.clientDisconnected(deepLinkConditions)) }

  /// Opens the deep links that have waited at a gate, which is open now.
  func openDeepLinks(waitingAt gate: String) {
    perform(pendingLinks.gateOpened(gate, deepLinkConditions))
  }

  /// Refuses the deep links that have waited at a gate, which was not opened.
  func refuseDeepLinks(waitingAt gate: String, _ error: CallError) {
    perform(pendingLinks.gateRefused(gate, error))
  }

  /// Removes the deep links that clients with these names have sent. Returns whether there were any.
  func removeDeepLinks(from clients: Set<String>) -> Bool {
    guard let effects = pendingLinks.remove(from: clients, deepLinkConditions) else {
      return false
    }
    perform(effects)
    return true
  }

  private func perform(_ effects: [PendingLinks.DeepLinkEffect]) {
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: PendingLinks.DeepLinkEffect) {
    switch effect {
    case .recordChange: journal?.recordChange(.deepLinks)
    case .open(let link):
      loop.execute { [weak self] in
        self?.assumeIsolated { $0.perform($0.pendingLinks.open(link, $0.deepLinkConditions)) }
      }
    case .call(let call): perform(call)
    case .ask(let gate, let link): ask(gate, for: link.uri)
    case .findSender(let sender): findSender(sender)
    case .waitForSender(let sender):
      _ = loop.schedule(after: PendingLinks.senderRetryDelay) { [weak self] in
        self?.assumeIsolated {
          $0.perform($0.pendingLinks.retrySender(sender, $0.deepLinkConditions))
        }
      }
    case .refuse(let link, let error, let caller):
      events.recordRefusal(error, of: nil, about: link.uri, by: caller)
      events.emitRouteFailure(link.uri, error, by: caller)
    case .reportFailure(let uri, let error, let caller):
      events.emitRouteFailure(uri, error, by: caller)
    }
  }

  private func perform(_ linkCall: DeepLinkCall) {
    let (uri, options) = (linkCall.uri, linkCall.options)
    let number = makeCallNumber()
    let holdTimer = loop.schedule(after: PendingLinks.maxHold) { [weak self] in
      self?.assumeIsolated { $0.holdTimeEnded(of: number) }
    }
    pendingLinks.callBegan(number, for: linkCall, holdTimer: holdTimer)
    let caller = AppCaller(rights: options.rights, receiver: .deepLinks)
    guard let call = beginCall(number, .open, caller, timeout: nil) else { return }
    call.uri = uri
    run(.route(.open, uri: uri, options), call)
  }

  /// Handles the result of the call that opens a deep link.
  func linkCallEnded(_ number: CallNumber, _ result: Result<SessionCallResponse, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    perform(pendingLinks.callEnded(number, error, deepLinkConditions))
  }

  /// Handles that the call of a deep link has its page shown.
  func linkPageShown(by number: CallNumber) {
    perform(pendingLinks.pageShown(by: number, deepLinkConditions))
  }

  /// Handles that the work on the task of a deep link has started.
  func linkTaskStarted(by number: CallNumber) {
    perform(pendingLinks.taskStarted(by: number, deepLinkConditions))
  }

  private func holdTimeEnded(of number: CallNumber) {
    guard let call = call(number) else { return }
    let isTask = if case .task = call.work { true } else { false }
    perform(pendingLinks.holdTimeEnded(of: number, isHeld: isTask, deepLinkConditions))
  }

  private func findSender(_ sender: Caller) {
    let operations = environment.operations
    Task { [weak self] in
      let status: CallerStatus?
      do throws(CallError) {
        status = try await operations.callerStatus(of: sender)
      } catch {
        status = nil
      }
      await self?.senderFound(sender, status)
    }
  }

  private func senderFound(_ sender: Caller, _ status: CallerStatus?) {
    perform(pendingLinks.senderFound(sender, status, deepLinkConditions))
  }
}

/// The state of a deep link that a session has just accepted.
enum DeepLinkState: Sendable {
  /// It is opened in turn.
  case followed
  /// It waits for a host.
  case waiting

  /// Creates the state that a result of `router.deliver` reports.
  init(_ value: Value) { self = value["waiting"] == 0 ? .followed : .waiting }

  /// The result of `router.deliver` for one session.
  var value: Value {
    self == .followed ? ["sessions": 1, "waiting": 0] : ["sessions": 0, "waiting": 1]
  }
}

import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// Opens deep links: each once, as soon as a handler or a connected host can serve it.
enum SessionDeepLinkRunner {
  /// The state of a deep link that a session has just accepted.
  enum LinkState: Sendable {
    /// It is opened in turn.
    case followed
    /// It waits for a host.
    case waiting

    /// The result of `router.deliver` for one session.
    var value: Value {
      self == .followed ? ["sessions": 1, "waiting": 0] : ["sessions": 0, "waiting": 1]
    }
  }

  /// How long a link that an interceptor holds blocks the others.
  static let maxHold: Duration = .seconds(1)

  /// Accepts a deep link that was pushed to the session, and records it under its key `name`, which
  /// is new. Fails as ``deliver(_:for:by:keyOwner:_:copies:to:)``, and with 2429 if too many keys
  /// are in use.
  static func deliver(
    _ link: DeepLink, by rights: Rights, under name: SessionIdempotencyKeys.ScopedKey?,
    _ unclaimed: UnclaimedLinks.UnclaimedLink?, copies: DeepLinkCopies? = nil,
    to session: isolated Session
  ) throws(CallError) -> LinkState {
    guard let name else {
      return try deliver(link, by: rights, unclaimed, copies: copies, to: session)
    }
    try session.idempotencyKeys.begin(name, link.request, leader: session.makeCallNumber())
    let result: Result<LinkState, CallError> = Result { () throws(CallError) in
      try deliver(link, by: rights, keyOwner: name.owner, unclaimed, copies: copies, to: session)
    }
    _ = session.idempotencyKeys.end(
      name, result.map { .value($0.value) }, within: session.clients.budget,
      at: session.loop.nanoseconds)
    return try result.get()
  }

  /// Accepts a deep link, to be opened in turn. Its memory is charged to `client`, or to the session
  /// if there is none; `rights` are those of its sender. `keyOwner` is the owner of its key.
  ///
  /// Fails with -32602 if the text is not a URI, with 2403, and with 2429 if too many links wait.
  @discardableResult
  static func deliver(
    _ link: DeepLink, for client: Client? = nil, by rights: Rights, keyOwner: String? = nil,
    _ unclaimed: UnclaimedLinks.UnclaimedLink? = nil, copies: DeepLinkCopies? = nil,
    to session: isolated Session
  ) throws(CallError) -> LinkState {
    try link.validate()
    // A sender that may have changed is checked when the link is opened.
    if rights.outdatedCaller(at: session.environment.now()) == nil {
      try check(link, by: rights, in: session)
    }
    let charge: ByteBudget.Charge
    if let client {
      charge = try client.charge(link.size)
    } else {
      do { charge = try session.clients.budget.charge(link.size) } catch {
        throw CallError(error, for: link.size)
      }
    }
    let state: LinkState = opensLinks(session) && isDue(link, in: session) ? .followed : .waiting
    try session.pendingLinks.add(
      PendingLinks.PendingLink(
        deepLink: link, rights: rights, keyOwner: keyOwner, unclaimedLink: unclaimed,
        copies: copies, charge: charge))
    copies?.add()
    session.journal?.recordChange(RecordKey.deepLinks)
    runNext(in: session)
    return state
  }

  /// Checks whether the sender of a link may still deliver it to the session, and may open its page
  /// and each page below it. Throws 2403.
  private static func check(
    _ link: DeepLink, by rights: Rights, in session: isolated Session
  ) throws(CallError) {
    try rights.checkValidity(at: session.environment.now())
    // A client reaches its own session, and those of its user. Others need a push.
    let caller = rights.caller
    if !caller.clientSession.isSameUTF8(as: session.id) {
      let isOfUser = caller.identity.user != nil && session.identity.hasUser(of: caller.identity)
      if !isOfUser { try rights.authorize("session.push", .admin) }
    }
    let resolver = session.resolver
    let parents = (try? resolver.parents(of: link, for: rights.caller)) ?? []
    let targets = [(link.uri, link.params)] + parents.map { ($0.text, [:]) }
    for (uri, params) in targets {
      if let resolution = try? resolver.resolve(uri, params, checking: false, for: rights.caller) {
        try rights.check(.deliver, resolution)
      }
    }
  }

  /// Opens the deep links that arrived before any client could serve them and that can be served
  /// now. Called after a client has registered hosts or has reconnected.
  static func hostsChanged(in session: isolated Session) {
    claim(in: session)
    runNext(in: session)
  }

  /// Claims the unclaimed deep links that the session can open now.
  private static func claim(in session: isolated Session) {
    guard !session.isOfRequest, opensLinks(session) else { return }
    let owner = session.environment.owner
    let remaining = owner.claimDeepLinks(for: session.id).filter { unclaimed in
      !canOpen(unclaimed.deepLink, in: session) || !accept(unclaimed, in: session)
    }
    owner.restoreDeepLinks(remaining)
  }

  /// Accepts an unclaimed deep link, unless the session has received it before under its key, or its
  /// sender may no longer open it. Returns false if it has to wait for another session.
  private static func accept(
    _ unclaimed: UnclaimedLinks.UnclaimedLink, in session: isolated Session
  ) -> Bool {
    let name = unclaimed.keyName
    if let name, session.idempotencyKeys.find(name, at: session.loop.nanoseconds) != nil {
      return true
    }
    let rights = unclaimed.rights ?? session.appRights
    do throws(CallError) {
      _ = try deliver(unclaimed.deepLink, by: rights, under: name, unclaimed, to: session)
      return true
    } catch {
      guard error.isRefusal else { return false }
      refuse(unclaimed.deepLink, error, by: rights.caller, in: session)
      return true
    }
  }

  /// Reports that a link which has waited is not opened, because its sender may not open it.
  private static func refuse(
    _ link: DeepLink, _ error: CallError, by caller: Caller, in session: isolated Session
  ) {
    session.events.recordRefusal(error, of: nil, about: link.uri, by: caller)
    session.events.emitRouteFailure(link.uri, error, by: caller)
  }

  /// Opens the first deep link that is due. Call this whenever a link may have become due.
  static func runNext(in session: isolated Session) {
    guard opensLinks(session) else { return }
    while session.pendingLinks.canBegin,
      let next = session.pendingLinks.waiting.first(where: { isDue($0.deepLink, in: session) })
    {
      if let sender = next.rights.outdatedCaller(at: session.environment.now()) {
        findOut(sender, in: session)
        continue
      }
      session.pendingLinks.begin(next.number)
      // The response to the request that delivered the link is sent first.
      return session.loop.execute { [weak session] in
        session?.assumeIsolated { open(next, in: $0) }
      }
    }
  }

  /// Removes the links that clients with these names have sent, because an administrator has removed
  /// the clients. Returns whether there were any.
  static func removeLinks(from clients: Set<String>, in session: isolated Session) -> Bool {
    let links = session.pendingLinks.revoke(clients)
    guard !links.isEmpty else { return false }
    session.journal?.recordChange(RecordKey.deepLinks)
    for link in links {
      refuse(link.deepLink, .rightsEnded, by: link.rights.caller, in: session)
      complete(link, in: session)
    }
    return true
  }

  /// Opens a deep link, unless its sender may no longer open it.
  private static func open(_ link: PendingLinks.PendingLink, in session: isolated Session) {
    do throws(CallError) {
      // Rights may have ended, and routes changed, since the link was delivered.
      try check(link.deepLink, by: link.rights, in: session)
    } catch {
      refuse(link.deepLink, error, by: link.rights.caller, in: session)
      return complete(link, in: session)
    }
    let opening = LinkOpening(link)
    opening.parents = parents(of: link, in: session)[...]
    openNext(opening, in: session)
  }

  /// How long the links of a sender wait if a server that may have it has not responded.
  private static let senderRetryDelay: Duration = .seconds(2)

  /// Finds out the rights that a sender has now. Its links do not block others meanwhile, and wait
  /// until a server has responded.
  private static func findOut(_ sender: CurrentCaller, in session: isolated Session) {
    let owner = session.environment.owner
    let caller = sender.caller
    session.pendingLinks.hold(linksOf: caller, at: session.environment.now())
    Task { [weak session] in
      let status: CallerStatus?
      do throws(CallError) {
        status = try await owner.callerStatus(of: caller)
      } catch {
        status = nil
      }
      session?.loop.execute { [weak session] in
        session?.assumeIsolated { finishSearch(for: caller, status, in: $0) }
      }
    }
  }

  private static func finishSearch(
    for caller: Caller, _ status: CallerStatus?, in session: isolated Session
  ) {
    guard let status else {
      _ = session.loop.schedule(after: senderRetryDelay) { [weak session] in
        session?.assumeIsolated { session in
          _ = session.pendingLinks.release(linksOf: caller)
          runNext(in: session)
        }
      }
      return
    }
    let now = session.environment.now()
    for rights in session.pendingLinks.release(linksOf: caller) {
      rights.outdatedCaller(at: now)?.update(status, at: now)
    }
    runNext(in: session)
  }

  /// Opens the next link if the one that it waits for is at a host that has lost its connection. Call
  /// this when a client has disconnected.
  static func clientDisconnected(in session: isolated Session) {
    guard let host = session.pendingLinks.blockingHost, isLost(host, in: session) else { return }
    session.pendingLinks.unblock()
    runNext(in: session)
  }

  /// Whether links may be opened in the session. Those of a session that continues after a restart,
  /// or at another server, are left to the next owner.
  private static func opensLinks(_ session: isolated Session) -> Bool {
    !session.state.isClosing && !(session.state.isDraining && session.isPersisted)
  }

  /// Whether a deep link need not wait any longer: it can be opened, or has failed permanently.
  ///
  /// A session without any connected host has only begun, or its app is away. A URI that has no host
  /// yet may be one that a client is about to register.
  private static func isDue(_ link: DeepLink, in session: isolated Session) -> Bool {
    do {
      let destination = try session.resolver.destination(
        of: link.uri, link.params, checking: false)
      if isAbsent(destination, in: session) { return false }
      return destination.isHandled || hasConnectedHost(session)
    } catch {
      switch error.protocolCode {
      case .hostAbsent: return false
      case .noRoute: return hasConnectedHost(session)
      default: return true
      }
    }
  }

  /// Whether a deep link can be opened in a session now.
  static func canOpen(_ link: DeepLink, in session: isolated Session) -> Bool {
    guard
      let destination = try? session.resolver.destination(
        of: link.uri, link.params, checking: false)
    else { return false }
    return destination.isHandled && !isAbsent(destination, in: session)
  }

  /// Whether the host of a destination is a client of the session without a connection. The session
  /// learns when it is back or gone.
  private static func isAbsent(
    _ destination: SessionDestination, in session: isolated Session
  ) -> Bool {
    guard case .hosted(let host, _) = destination.kind, host.client > 0 else { return false }
    return session.resolver.isAbsent(host)
  }

  private static func hasConnectedHost(_ session: isolated Session) -> Bool {
    session.clients.all.contains { client in
      !client.isDisconnected && !session.resolver.hosts.definitions(of: client.id).isEmpty
    }
  }

  /// Whether a client of the session is gone or has lost its connection.
  private static func isLost(_ client: ClientID, in session: isolated Session) -> Bool {
    session.clients[client]?.isDisconnected != false
  }

  private static func parents(
    of link: PendingLinks.PendingLink, in session: isolated Session
  ) -> [String] {
    let caller = link.rights.caller
    do {
      return try session.resolver.parents(of: link.deepLink, for: caller).map(\.text)
    } catch {
      session.events.emitRouteFailure(link.deepLink.uri, error, by: caller)
      return []
    }
  }
}

// Opening one link: the pages below its page, lowest first, and the page itself.
extension SessionDeepLinkRunner {
  /// The progress of one link. Confined to the loop of its session.
  private final class LinkOpening: @unchecked Sendable {
    let link: PendingLinks.PendingLink
    /// The pages below the link's page that are not yet opened, lowest first.
    var parents: ArraySlice<String> = []
    /// The call that is awaited.
    var call: CallNumber?
    /// Fires when the link has to block others no longer.
    var holdTimer: (any ScheduledWork)?

    init(_ link: PendingLinks.PendingLink) {
      self.link = link
    }

    /// Ends the wait for a call. Returns false if it has ended before.
    func endWait(for number: CallNumber) -> Bool {
      guard call == number else { return false }
      call = nil
      holdTimer?.cancel()
      holdTimer = nil
      return true
    }
  }

  /// Opens the next page of a link.
  private static func openNext(_ opening: LinkOpening, in session: isolated Session) {
    let link = opening.link
    guard session.pendingLinks.opening(link.number) != nil else { return }
    if let parent = opening.parents.popFirst() {
      let options = SessionCallOptions(rights: link.rights, method: .deliver, style: .popTo)
      return makeCall(to: parent, options, isLast: false, opening, in: session)
    }
    let key = link.deepLink.key.map {
      RouterIdempotencyKey(session: session.id, owner: link.keyOwner, text: $0)
    }
    let options = SessionCallOptions(
      rights: link.rights, method: .deliver, params: link.deepLink.params,
      exts: link.deepLink.exts, style: link.deepLink.style, idempotencyKey: key)
    makeCall(to: link.deepLink.uri, options, isLast: true, opening, in: session)
  }

  /// Makes a call for a link. `isLast` is false for a page below the link's page.
  private static func makeCall(
    to uri: String, _ options: SessionCallOptions, isLast: Bool, _ opening: LinkOpening,
    in session: isolated Session
  ) {
    let number = session.makeCallNumber()
    opening.call = number
    let host = host(of: uri, options.params, in: session)
    session.pendingLinks.setHost(host, of: opening.link.number)
    opening.holdTimer = session.loop.schedule(after: maxHold) { [weak session] in
      session?.assumeIsolated { checkHold(opening, in: $0) }
    }
    let caller = AppCaller(
      rights: options.rights, onResult: { finish(number, isLast, opening, $0, in: session) },
      onPageShown: { _ in pageShown(number, isLast, opening, in: session) },
      onStart: { taskStarted(number, isLast, opening, in: session) })
    guard let call = session.beginCall(number, .open, caller, timeout: nil) else { return }
    call.uri = uri
    do throws(CallError) {
      let resolution = SessionCallResolution(.open, uri, options)
      switch try CallRunner.advance(resolution, for: .call(call), in: session) {
      case .now(let response): session.settle(number, .success(response))
      case .failed(let error): session.settle(number, .failure(error))
      case .later: break
      }
    } catch {
      session.events.emitRouteFailure(uri, error, by: options.rights.caller)
      session.settle(number, .failure(error))
    }
  }

  /// Returns the client of the session that hosts a URI; `nil` if it is none.
  private static func host(
    of uri: String, _ params: ValueObject, in session: isolated Session
  ) -> ClientID? {
    let destination = try? session.resolver.destination(of: uri, params, checking: false)
    guard case .hosted(let host, _)? = destination?.kind, host.client > 0 else { return nil }
    return host.client
  }

  /// Opens the next link if an interceptor holds this one, a module is still loading, or its host has
  /// lost its connection meanwhile.
  private static func checkHold(_ opening: LinkOpening, in session: isolated Session) {
    opening.holdTimer = nil
    guard session.pendingLinks.isBlocking(opening.link.number),
      let call = opening.call.flatMap({ session.call($0) })
    else { return }
    var isHeld = session.pendingLinks.blockingHost.map { isLost($0, in: session) } == true
    if case .task = call.work { isHeld = true }
    guard isHeld else { return }
    session.pendingLinks.unblock()
    runNext(in: session)
  }

  private static func pageShown(
    _ number: CallNumber, _ isLast: Bool, _ opening: LinkOpening, in session: isolated Session
  ) {
    guard opening.endWait(for: number) else { return }
    if isLast {
      complete(opening.link, in: session)
    } else {
      scheduleNext(opening, in: session)
    }
  }

  private static func taskStarted(
    _ number: CallNumber, _ isLast: Bool, _ opening: LinkOpening, in session: isolated Session
  ) {
    guard isLast else { return pageShown(number, false, opening, in: session) }
    guard opening.call == number else { return }
    opening.holdTimer?.cancel()
    session.pendingLinks.start(opening.link.number)
    session.journal?.recordChange(RecordKey.deepLinks)
    runNext(in: session)
  }

  /// Handles the end of a call for a link. A link whose host is lost before it has shown the page is
  /// opened again, at the next host.
  private static func finish(
    _ number: CallNumber, _ isLast: Bool, _ opening: LinkOpening,
    _ result: Result<SessionCallResponse, CallError>, in session: isolated Session
  ) {
    guard opening.endWait(for: number) else { return }
    let link = opening.link
    switch result {
    case .success where isLast: complete(link, in: session)
    case .failure(let error) where isLast && !session.state.isClosing:
      guard mayRetry(link, after: error, in: session), session.pendingLinks.requeue(link.number)
      else { return complete(link, in: session) }
      session.journal?.recordChange(RecordKey.deepLinks)
      runNext(in: session)
    // A page below that cannot be shown must not prevent the page itself.
    case _ where !session.state.isClosing: scheduleNext(opening, in: session)
    // The next start of the server, or another session, opens the link.
    case .success, .failure: _ = session.pendingLinks.requeue(link.number)
    }
  }

  /// Opens the next page of a link once the messages of the last operation are sent.
  private static func scheduleNext(_ opening: LinkOpening, in session: isolated Session) {
    session.loop.execute { [weak session] in
      session?.assumeIsolated { openNext(opening, in: $0) }
    }
  }

  /// Removes a link that is followed, or has failed for good.
  private static func complete(
    _ link: PendingLinks.PendingLink, in session: isolated Session
  ) {
    if session.pendingLinks.finish(link.number) {
      session.journal?.recordChange(RecordKey.deepLinks)
    }
    runNext(in: session)
  }

  /// Whether a link that has failed with an error may be opened again without being followed twice.
  private static func mayRetry(
    _ link: PendingLinks.PendingLink, after error: CallError, in session: isolated Session
  ) -> Bool {
    switch error.protocolCode {
    case .hostAbsent:
      guard error.data?["retryable"] != false else { return false }
      let isHostLost = session.pendingLinks.host(of: link.number).map { isLost($0, in: session) }
      return isHostLost == true || !isDue(link.deepLink, in: session)
    // The host was reloaded, and the page with it.
    case .hostFailed: return error.data?["host"] == nil && error.kind != "unreadable"
    default: return false
    }
  }
}

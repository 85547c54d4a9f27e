import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The sessions of one loop.
package actor LoopSessions {
  nonisolated let loop: any EventLoop
  nonisolated let configuration: SessionServerConfiguration
  private nonisolated let executor: UnownedSerialExecutor
  package nonisolated let meter: SessionCallMeter
  nonisolated let inspector: Inspector
  nonisolated let observedKinds: ObservedEventKinds
  nonisolated let scheduler: SessionLoopScheduler
  nonisolated let dispatcher: SessionRequestDispatcher
  package nonisolated let rejectedTokens = SessionTokenRejections()
  /// The server with the sessions of all loops, including this one.
  package nonisolated let sessionServer: SessionServer
  /// The operations in the sessions of all servers.
  private nonisolated let operations: any SessionOperations
  /// The policy for all clients.
  nonisolated let policy: PolicySource
  package nonisolated let resumableClients: ResumableClients
  /// Read for each session that an event is sent to, and runs no other code while it changes.
  @exclusivity(unchecked) private(set) var sessions = SessionRegistry<Session>()
  var audiences = AudienceIndex()
  var retainedEvents = RetainedEvents()
  /// Whether the sessions are about to be offered the pending deep links.
  var isOfferQueued = false
  var listeners = EventListeners()
  /// Nil if sessions end with the server.
  package nonisolated let writer: SessionStoreWriter?
  nonisolated let decoder: MessageDecoder
  /// Whether no more sessions are accepted, because the server ends.
  var isDraining = false
  /// How long its sessions are certain to be its own; nil if they always are.
  nonisolated let leaseValidity: SessionLeaseValidity?
  /// Whether no messages of its sessions may be sent, since other servers may own them.
  var isFenced = false
  /// How often the ownership of its sessions became unknown, and the value of that count at the
  /// last completed check.
  var ownershipChecks = (required: 0, completed: 0)
  /// Its index in the server.
  private nonisolated let loopIndex: SessionDirectory.LoopIndex

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }
  nonisolated var limits: Limits { configuration.limits }

  /// Creates the sessions of one more loop of a server. The server does not retain it.
  init(
    loop: any EventLoop, in sessionServer: SessionServer, operations: any SessionOperations
  ) {
    self.loop = loop
    self.sessionServer = sessionServer
    self.operations = operations
    configuration = sessionServer.configuration
    let configuration = sessionServer.configuration
    scheduler = SessionLoopScheduler(loop)
    loopIndex = sessionServer.reserveLoopIndex()
    resumableClients = ResumableClients(
      loop, limits: configuration.limits, sharedBy: sessionServer.loopCount,
      sessionServer.directory, at: loopIndex)
    let limits = configuration.limits
    decoder = MessageDecoder(
      maxBatch: limits.maxBatch, maxDepth: limits.maxDepth, maxValues: limits.maxValues)
    policy = PolicySource(configuration.compiledPolicy)
    let eventSink = configuration.eventSink
    observedKinds = ObservedEventKinds(sink: eventSink.kinds)
    inspector = Inspector(
      on: loop, now: configuration.now, alwaysTracesCalls: eventSink.kinds.contains(.call))
    meter = SessionCallMeter(
      methods: SessionServer.methodNames, loop: loop, durationRecorder: eventSink.durationRecorder)
    dispatcher = SessionRequestDispatcher(
      methods: MethodTable(others: configuration.methods), meter: meter, inspector: inspector)
    leaseValidity = sessionServer.cluster?.engine.leaseValidity
    let scheduler = scheduler
    writer = sessionServer.store.map {
      SessionStoreWriter(
        $0, on: loop, startWalk: scheduler.startWalk, report: eventSink.storeChanged)
    }
    executor = loop.asUnownedSerialExecutor()
    sessionServer.register(self, at: loopIndex)
    resumableClients.onExcess = { [weak self] in self?.assumeIsolated { $0.startShedding() } }
  }

  /// Creates a session. Other clients cannot find it before its first client is admitted. `leaving`
  /// is how many sessions the caller is about to end. If it `isDurable`, it survives a restart of
  /// the server. `isOfRequest` is true for the session of one HTTP request. `handshake` is that of the
  /// first client.
  func makeSession(
    of identity: Identity, _ handshake: Handshake, leaving: Int = 0, isDurable: Bool = false,
    isOfRequest: Bool = false
  ) throws(CallError) -> Session {
    if isDraining { throw .draining }
    if isDurable { try checkAdmission() }
    let quotas = sessionServer.userQuotas
    let userSlot =
      leaving > 0
      ? quotas.restoredSession(of: identity.user) : try quotas.session(of: identity.user)
    let excess = sessionServer.sessionCount - leaving - limits.maxSessions
    guard
      excess < 0 || makeRoom()
        || (excess < limits.maxReserved && isAdministrator(identity, handshake))
    else {
      throw CallError(
        .unavailable,
        "The server has reached its limit of \(limits.maxSessions) sessions; try again later")
    }
    let id = "s-" + SessionSecret.random(12)
    let journal =
      isDurable ? writer.map { SessionJournal(of: id, SessionLease(owner: $0.owner), $0) } : nil
    journal?.recordChange(.session)
    return Session(
      id: id, identity, environment, journal, userSlot: userSlot,
      isOfRequest: isOfRequest)
  }

  /// Removes sessions without connected clients. Those of other loops end too late for this
  /// request, but in time for a retry.
  private func makeRoom() -> Bool {
    if resumableClients.makeRoom() { return true }
    for loopSessions in sessionServer.sessionsByLoop where loopSessions !== self {
      loopSessions.loop.execute { _ = loopSessions.resumableClients.makeRoom() }
    }
    return false
  }

  /// The environment of the sessions on this loop.
  var environment: SessionEnvironment {
    SessionEnvironment(
      loop: loop, cluster: sessionServer.cluster, router: configuration.router, limits: limits,
      announcedLimits: sessionServer.announcedLimits, budget: sessionServer.budget, meter: meter,
      scheduler: scheduler, resumableClients: resumableClients,
      eventSink: configuration.eventSink, observedKinds: observedKinds,
      auditTrail: sessionServer.auditTrail, inspector: inspector, now: configuration.now,
      owner: self, operations: operations,
      serverHosts: sessionServer.serverHosts, policy: policy,
      resultCheck: configuration.sessions.resultCheck,
      invalidResults: sessionServer.invalidResults,
      blobs: configuration.blobs, table: configuration.sessions.table, tracer: configuration.tracer,
      logger: configuration.logger)
  }

  /// Adds a session that has its first client: from now on other clients find it.
  func add(_ session: Session) {
    sessions.add(session, id: session.id)
    sessionServer.directory.add(session: session.id, at: loopIndex)
    audiences.add(session.id, session.assumeIsolated { $0.identity })
  }

  /// Returns the error with which a client may not join a session; nil if it may.
  func rejection(ofJoining join: SessionOpenRequest.JoinParams) -> CallError? {
    do throws(CallError) {
      _ = try session(join.session, joinToken: join.token)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the session that a join token opens, with the invitation if the token is one of an
  /// invitation. Fails with 2401.
  func session(
    _ id: String, joinToken: PresentedToken
  ) throws(CallError) -> (session: Session, invitation: Invitation?) {
    guard let session = sessions[id] else { throw Self.joinDenied }
    if session.assumeIsolated({ joinToken.matches($0.joinToken) }) {
      return (session, nil)
    }
    let now = loop.nanoseconds
    let (invitation, isInUse) = session.assumeIsolated { session in
      if let found = session.invitations.find(joinToken, at: now, wall: session.environment.now()) {
        return (found as Invitation?, false)
      }
      // A guest that lost its connection and joins again without resuming takes the place of its
      // former client.
      session.removeDisconnectedGuest(withToken: joinToken)
      return (
        session.invitations.find(joinToken, at: now, wall: session.environment.now()),
        session.invitations.isInUse(joinToken)
      )
    }
    guard let invitation else { throw isInUse ? Self.invitationFull : Self.joinDenied }
    return (session, invitation)
  }

  private static let invitationFull = CallError(
    .notAuthenticated, "params.join: the invitation is in use by as many guests as it allows",
    data: ["retryable": true])

  private static let joinDenied = CallError(
    .notAuthenticated,
    "params.join: there is no such session, or the token is neither its joinToken nor that of a "
      + "valid invitation")

  /// Whether a session was handed over and is about to leave this server.
  func isReleased(_ session: String) -> Bool {
    sessions[session]?.assumeIsolated { $0.state.isReleased } == true
  }

  /// Whether a session is here and stays, so that a client unknown to it exists nowhere.
  func isLocal(_ session: String) -> Bool {
    sessions[session]?.assumeIsolated { !$0.state.isEnding } == true
  }

  /// Applies another policy, also to running calls; nil for none.
  func applyPolicy(_ compiledPolicy: CompiledPolicy?) { policy.compiledPolicy = compiledPolicy }

  /// The policy that is in force.
  var compiledPolicy: CompiledPolicy? { policy.compiledPolicy }
}

extension LoopSessions: SessionOwner {
  nonisolated func sessionEnded(_ session: String, unclaimed: [UnclaimedLinks.UnclaimedLink]) {
    assumeIsolated { loopSessions in
      loopSessions.sessions.remove(session)
      loopSessions.sessionServer.directory.remove(session: session)
      loopSessions.audiences.remove(session)
      loopSessions.retainedEvents.forget(session: session)
    }
    let remaining = unclaimed.filter { !$0.audience.isSingleSession }
    guard !remaining.isEmpty else { return }
    restoreDeepLinks(remaining)
    Task {
      for loopSessions in sessionServer.sessionsByLoop { await loopSessions.offerDeepLinks() }
    }
  }

  nonisolated func claimDeepLinks(for session: String) -> [UnclaimedLinks.UnclaimedLink] {
    let links = assumeIsolated { loopSessions in
      loopSessions.sessionServer.unclaimedLinks.withLock { links in
        links.claim(at: configuration.now()) {
          loopSessions.audiences.contains(session, in: $0.audience)
        }
      }
    }
    assumeIsolated { loopSessions in
      loopSessions.operations.fetchDeepLinks(
        for: session, of: loopSessions.audiences.identity(of: session))
    }
    return links.map { link in
      var link = link
      link.rights = link.rights?.transferred(to: policy)
      return link
    }
  }

  nonisolated func restoreDeepLinks(_ links: [UnclaimedLinks.UnclaimedLink]) {
    sessionServer.unclaimedLinks.withLock { $0.restore(links) }
  }

  nonisolated func auditRoutes() async -> HostRouteAudit { await sessionServer.auditRoutes() }

  nonisolated func isRevoked(_ caller: Caller) -> Bool {
    guard let client = caller.client?.id else { return false }
    return sessionServer.revokedClients.withLock { $0.contains(client) }
  }

  nonisolated func recordRejectedToken(_ reason: String, of client: EventClient) {
    rejectedTokens.add(joins: false)
    reportRejectedToken(reason, address: client.address, of: client)
  }

  /// Reports a rejected token without counting it. `remedy` is what the server would accept.
  nonisolated func reportRejectedToken(
    _ reason: String, remedy: String? = nil, address: String?, of client: EventClient
  ) {
    sessionServer.rejectionLog.add(
      .token, ErrorCode.notAuthenticated.rawValue, reason, address: address, remedy: remedy)
    configuration.eventSink.tokenRejected(reason, client)
  }

  nonisolated func updateIdentity(_ session: String, _ identity: Identity) {
    assumeIsolated { $0.audiences.change(session, identity) }
  }

  nonisolated func deliverEvent(_ event: BridgeEvent) {
    assumeIsolated { $0.listeners.deliver(event) }
  }

  nonisolated var lastEventNumber: UInt64 { assumeIsolated { $0.retainedEvents.lastNumber } }

  nonisolated func makeEventNumber() -> UInt64 { assumeIsolated { $0.retainedEvents.makeNumber() } }

  nonisolated func retainedEvents(
    for session: String, client: String, where isWanted: @Sendable (String) -> Bool
  ) -> [PublishedEvent] {
    assumeIsolated { loopSessions in
      loopSessions.retainedEvents.events { topic, audience in
        isWanted(topic) && loopSessions.audiences.contains(session, client: client, in: audience)
      }
    }
  }
}

import DequeModule
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// One running app instance. It owns the parts, each of which keeps its own state and makes
/// decisions, and performs what they decide.
///
/// An actor on its loop; connections of the same loop enter without a hop. Responses that do not
/// need another party are ready before the handling of a message returns.
package actor Session: Requester {
  package nonisolated let id: String
  private(set) var joinToken: String
  nonisolated let epoch: String
  /// When the session was opened, in milliseconds since 1970-01-01 UTC.
  nonisolated let openedAt: Int64
  /// The journal of a stored session; `nil` if the session ends with the server.
  let journal: SessionJournal?
  /// Whether the session may be stored, so that another server can take it over.
  nonisolated let isDurable: Bool
  /// Whether the session is that of one HTTP request, and ends with it. It belongs to no audience.
  nonisolated let isOfRequest: Bool
  /// Its place among the sessions of its user; `nil` without a user.
  private nonisolated let userSlot: UserSlot?
  nonisolated let environment: SessionEnvironment
  /// Whether the app receives the spans of calls.
  nonisolated let isTraced: Bool
  private nonisolated let executor: UnownedSerialExecutor

  let clients: SessionClients
  let clientWriter: ClientWriter
  let resolver: SessionDestinationResolver
  let events: SessionEvents
  // Accessed at each step of a call, without running foreign code meanwhile. The same is true of
  // the other unchecked properties.
  @exclusivity(unchecked) var pages: Pages
  var pendingLinks: PendingLinks
  var gates = SessionGates()
  var invitations = Invitations()
  var idempotencyKeys: SessionIdempotencyKeys
  /// The identity of the first client. Clients that join with the session's token and have no token
  /// of their own get it too.
  var identity: Identity
  /// The rights of the app's own code.
  nonisolated let appRights: Rights
  /// The calls without a result, including those of Swift code.
  @exclusivity(unchecked) var calls = ActiveCalls()
  /// The page actions to perform, while actions are being performed.
  @exclusivity(unchecked) private var pendingActions: Deque<SessionPageAction> = []
  @exclusivity(unchecked) private var isPerformingActions = false
  @exclusivity(unchecked) private(set) var state = SessionState.active
  /// Whether the server cannot treat the session as its own now, so that no client may connect. It
  /// may become false again in each state.
  var isFenced = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }
  nonisolated var limits: Limits { environment.limits }
  nonisolated var loop: any EventLoop { environment.loop }

  /// `restored` is what a session keeps that is restored.
  init(
    id: String, _ identity: Identity, _ environment: SessionEnvironment,
    _ journal: SessionJournal? = nil,
    restored: (joinToken: String, epoch: String, openedAt: Int64)? = nil,
    userSlot: UserSlot? = nil,
    isOfRequest: Bool = false
  ) {
    self.userSlot = userSlot
    self.id = id
    self.identity = identity
    self.journal = journal
    isDurable = journal != nil
    self.isOfRequest = isOfRequest
    joinToken = restored?.joinToken ?? SessionSecret.random()
    epoch = restored?.epoch ?? SessionSecret.random(12)
    openedAt = restored?.openedAt ?? environment.now()
    appRights = Rights.app(in: id, environment.logger)
    self.environment = environment
    isTraced = environment.tracer != nil
    let (loop, limits) = (environment.loop, environment.limits)
    executor = loop.asUnownedSerialExecutor()
    let budget = ByteBudget(.session, limits.maxSessionBytes, within: environment.budget)
    clients = SessionClients(of: id, limits: limits, budget: budget)
    clientWriter = ClientWriter(
      limits: limits, clients: clients, environment.resumableClients, journal)
    resolver = SessionDestinationResolver(
      environment.router, limits: limits, environment.serverHosts)
    events = SessionEvents(
      of: id, environment, Subscribers(limits: limits), clients: clients,
      clientWriter: clientWriter, resolver: resolver)
    pages = Pages(ByteBudget(.stack, limits.maxStackBytes, within: budget), journal) {
      loop.nanoseconds
    } observesVisibility: { [events] in
      events.isObserved(.visibility)
    }
    pendingLinks = PendingLinks(limit: limits.maxLinks)
    idempotencyKeys = SessionIdempotencyKeys(limit: limits.maxKeys, journal)
    resolver.askInterceptor = { [weak self] entry, call in
      guard let self else { throw CancellationError() }
      return try await self.ask(entry, about: call)
    }
    journal?.source = self
  }
}

extension Session {
  /// Creates a joining client, which is not part of the session before it is added. Fails if the
  /// session is full.
  func makeClient(
    _ joiningClient: JoiningClient, channel: any MessageChannel
  ) throws(CallError) -> Client {
    let client = try clients.makeClient(
      page: joiningClient.page, software: joiningClient.software,
      handshake: joiningClient.handshake,
      channel: channel)
    client.rights = rights(of: joiningClient, as: client.name)
    client.authentication = ClientIdentity(joiningClient.identitySource)
    return client
  }

  /// Returns the rights of a joining client that has the name `name`.
  func rights(of joiningClient: JoiningClient, as name: String) -> Rights {
    Rights(
      caller(of: joiningClient, as: name), environment.policy,
      invitation: joiningClient.invitation, limitedBy: joiningClient.invitation?.inviter)
  }

  /// Returns the caller that a joining client with the name `name` is.
  func caller(of joiningClient: JoiningClient, as name: String) -> Caller {
    let software = joiningClient.software
    return Caller(
      session: id, identity: joiningClient.identity,
      client: .init(
        id: name, name: software.name, version: software.version, page: joiningClient.page),
      isGuest: joiningClient.invitation != nil || joiningClient.isAgent,
      agent: joiningClient.agent, origin: joiningClient.handshake.origin,
      address: joiningClient.handshake.address, logger: environment.logger)
  }

  /// Returns the calls of a client that have no result yet, in their order.
  func pendingCalls(of client: Client) -> [ActiveCall] {
    calls.all.filter { $0.caller.client === client }.sorted { $0.number < $1.number }
  }

  /// Returns the time until the last deadline of a client's calls; `nil` if no call has a deadline
  /// to come.
  func timeUntilLastDeadline(of client: Client) -> Duration? {
    let now = loop.nanoseconds
    let ends = calls.all.compactMap { call in
      call.caller.client === client ? call.deadline : nil
    }
    guard let last = ends.max(), last > now else { return nil }
    return .nanoseconds(Int64(clamping: last - now))
  }

  /// Adds a client that ``makeClient(_:channel:)`` has created.
  func add(_ client: Client) {
    clients.add(client)
    if client.link.isResumable {
      environment.resumableClients.add(client, of: self)
      recordChange(client)
    }
    scheduleExpiry(of: client)
    events.emit(
      .session, .joined(ClientPresence(client), isFirst: client.id == 1), by: client.rights.caller)
  }

  /// Records that a client was added, or that its properties have changed.
  func recordChange(_ client: Client) {
    journal?.recordChange(.client(client.id))
    journal?.recordChange(.clientState(client.id))
  }

  /// Schedules storing the frames that a client has not acknowledged for a while.
  func schedulePersistence(of client: Client) {
    if client.link.needsPersistenceTimer {
      client.link.setPersistenceTimer(setTimer(.seconds(2), .outboxPersistence(client.id)))
    }
  }

  /// Whether changes are stored.
  var isPersisted: Bool { journal?.isTracking == true }

  /// Removes a client: its calls end, requests to it fail, and its pages fail. The session ends
  /// with its last client.
  ///
  /// `code` is the close code of its connection; `nil` if the connection was lost or stays open. A
  /// connection that stays open gets the responses to its calls.
  func remove(_ id: ClientID, code: UInt16? = nil, keepsConnection: Bool = false) {
    guard let client = clients.remove(id) else { return }
    client.authentication.setExpiryTimer(nil)
    client.link.end()
    environment.resumableClients.remove(client, of: self)
    environment.owner.endInspection(client)
    environment.blobs?.remove(client.name)
    recordChange(client)
    client.rights.depart(isElsewhere: state.hasMoved)
    if let invitation = client.rights.invitation {
      journal?.recordChange(.invitations)
      invitations.release(
        invitation, isFinal: code == CloseCode.normal.rawValue, at: loop.nanoseconds)
    }
    if !keepsConnection { client.link.detach() }
    pages.isSuspended = true
    resolver.hosts.removeAll(of: id)
    environment.serverHosts.removeAll(of: client)
    for number in client.calls.drain() { stop(number, .callerLeft) }
    client.link.detach()
    pages.removeGuards(of: id)
    perform(pages.hostLeft(client.name))
    for request in client.pending.drain() {
      request.settle()
      let error = CallError.clientDisconnected(during: request.method)
      events.requestEnded(request, .failure(error), of: client)
      forwardResponse(request, .failure(.noResponse(error)))
    }
    events.subscribers.removeAll(of: id)
    if !state.hasMoved {
      events.emit(.session, .left(client: client.name, code: code), by: client.rights.caller)
    }
    if clients.isEmpty { end() }
    pages.isSuspended = state.isEnding
    perform([])
    openDeepLinks()
  }

  /// Voids the join token. The clients that stay get the new one when they resume.
  func replaceJoinToken() {
    joinToken = SessionSecret.random()
    journal?.recordChange(.session)
  }

  /// Changes the state, unless the session is already closer to its end.
  func advance(to next: SessionState) { state.advance(to: next) }

  /// Rejects calls that would begin to wait, and starts no queued operation any more.
  func stopAcceptingCalls() {
    advance(to: .ending)
    pages.isSuspended = true
  }

  /// Ends the session with all that it still has.
  func end() {
    advance(to: .ending)
    let unclaimed = pendingLinks.removeAll()
    perform(pages.end())
    for number in calls.numbers { stop(number, .callerLeft) }
    if !state.hasMoved {
      events.emit(.session, .ended, by: nil)
      environment.blobs?.endSession(id)
    }
    journal?.end()
    environment.owner.sessionEnded(id, unclaimed: unclaimed)
  }
}

extension Session {
  /// Handles a deadline that has passed.
  private func fire(_ deadline: SessionDeadline) {
    switch deadline {
    case .call(let number): stop(number, .deadlineExceeded)
    case .opening(let page): perform(pages.timeOut(page))
    case .leaving(let question):
      perform(pages.handleVerdict(.deny(reason: "it did not respond in time"), on: question))
    case .expiry(let id): checkExpiry(of: id)
    case .acknowledgement(let id): sendDelayedAcknowledgement(to: id)
    case .resume(let id): resumeTimeEnded(of: id)
    case .outboxPersistence(let id):
      guard let client = clients[id] else { return }
      client.link.setPersistenceTimer(nil)
      clientWriter.markChanged(client)
    case .request(let id, let clientID):
      guard let client = clients[clientID], let request = clientWriter.expire(id, client) else {
        return
      }
      events.emit(
        .host, .hostTimedOut(client: client.name, method: request.method), by: client.rights.caller)
      let error = CallError(.hostAbsent, "The host did not answer \(request.method) in time")
      events.requestEnded(request, .failure(error), of: client)
      handleResponse(request.purpose, .failure(.noResponse(error)))
    }
  }

  /// Sets a timer, which fires unless it is cancelled before.
  func setTimer(_ time: Duration, _ deadline: SessionDeadline) -> any ScheduledWork {
    loop.schedule(after: time) { [weak self] in
      self?.assumeIsolated { $0.fire(deadline) }
    }
  }
}

extension Session {
  /// Performs page actions, and starts queued operations until a host has to be asked. Actions that
  /// arise meanwhile are performed in turn.
  func perform(_ first: [SessionPageAction]) {
    pendingActions.append(contentsOf: first)
    guard !isPerformingActions else { return }
    isPerformingActions = true
    defer { isPerformingActions = false }
    repeat {
      while let action = pendingActions.popFirst() {
        perform(action)
        if case .close(let page, _, _, _) = action { removeOrphans(of: page.id) }
      }
      pendingActions.append(contentsOf: pages.advance())
    } while !pendingActions.isEmpty
  }
}

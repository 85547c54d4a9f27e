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
  var invitations = Invitations()
  var idempotencyKeys: SessionIdempotencyKeys
  /// The identity of the first client. Clients that join with the session's token and have no token
  /// of their own get it too.
  var identity: Identity
  /// The rights of the app's own code.
  nonisolated let appRights: Rights
  /// The calls without a result, including those of Swift code.
  @exclusivity(unchecked) private(set) var calls = ActiveCalls()
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

  /// `secrets` are those of a session that is restored.
  init(
    id: String, _ identity: Identity, _ environment: SessionEnvironment,
    _ journal: SessionJournal? = nil, secrets: (joinToken: String, epoch: String)? = nil,
    userSlot: UserSlot? = nil,
    isOfRequest: Bool = false
  ) {
    self.userSlot = userSlot
    self.id = id
    self.identity = identity
    self.journal = journal
    isDurable = journal != nil
    self.isOfRequest = isOfRequest
    joinToken = secrets?.joinToken ?? SessionSecret.random()
    epoch = secrets?.epoch ?? SessionSecret.random(12)
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
    }
    pendingLinks = PendingLinks(limit: limits.maxLinks)
    idempotencyKeys = SessionIdempotencyKeys(limit: limits.maxKeys, journal)
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
      isGuest: joiningClient.invitation != nil, origin: joiningClient.handshake.origin,
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
    SessionTokenExpiry.schedule(client, in: self)
    events.emit(
      .session,
      .joined(
        client: client.name, name: client.software.name, version: client.software.version,
        isFirst: client.id == 1), by: client.rights.caller)
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
    perform(pages.hostLeft(client.name))
    for request in client.pending.drain() {
      request.settle()
      let error = CallError.clientDisconnected(during: request.method)
      traceResult(request, .failure(error), of: client)
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
    if !state.hasMoved { events.emit(.session, .ended, by: nil) }
    journal?.end()
    environment.owner.sessionEnded(id, unclaimed: unclaimed)
  }
}

extension Session {
  private static let deliverIsolated:
    @Sendable (isolated Session, PublishedEvent, String?) -> EventReach = {
      $0.events.deliver($1, only: $2)
    }
  /// Sends an event to the subscribers of its topic in a session, or only to the client
  /// with the given name. Returns whom it has reached.
  ///
  /// Only for code that is on the session's loop for certain. It skips the checks of
  /// `assumeIsolated`, which would be a tenth of a delivery's cost.
  static let deliver = unsafeBitCast(
    deliverIsolated, to: (@Sendable (Session, PublishedEvent, String?) -> EventReach).self)

  /// Sends the response to one request. `callStart` is the start of a call that did not complete at
  /// once.
  func respond(
    _ response: SessionCallResponse, to handle: ReplyHandle, _ callStart: CallStart? = nil
  ) {
    events.recordResponse(nil, of: handle, callStart) { .success(response) }
    clientWriter.respond(response, to: handle)
  }

  /// Sends the error response to one request, and records it if it is a refusal. `target` is the URI
  /// or the page of the request.
  func respond(
    _ error: CallError, to handle: ReplyHandle, _ callStart: CallStart? = nil,
    about target: @autoclosure () -> String? = nil
  ) {
    if error.isRefusal {
      events.recordRefusal(error, of: handle.method, about: target(), by: handle.caller)
    }
    events.recordResponse(error.code, of: handle, callStart) { .failure(error) }
    clientWriter.respond(error, to: handle)
  }

  /// Sends a request to a client. ``handleResponse(_:_:)`` gets its result, or the reason why there
  /// is none. Returns `nil` if the request cannot be sent.
  @discardableResult
  func request(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose,
    timeout: Duration? = nil
  ) -> RequestID? {
    do {
      let id = try clientWriter.request(client, method, params, for: purpose, by: self)
      if let timeout {
        clientWriter.setTimeout(id, client, setTimer(timeout, .request(id, client.id)))
      }
      if environment.inspector.isActive {
        let opened: CallNumber? =
          if case .open(let page) = purpose { pages.call(openingOf: page) } else { nil }
        client.pending[id]?.trace = environment.inspector.traceRequest(
          id, params, for: purpose.call ?? opened)
      }
      return id
    } catch {
      handleResponse(purpose, .failure(error))
      return nil
    }
  }

  /// Handles the response of a client.
  func complete(_ response: Response, from client: Client) {
    guard let request = clientWriter.resolve(response, from: client) else { return }
    traceResult(request, response.result, of: client)
    pages.markResponsive(client.name)
    forwardResponse(request, response.result.mapError(SessionClientRequestFailure.errorResponse))
  }

  /// Sends the inspectors the result of a request to a client.
  @inline(__always)
  func traceResult(
    _ request: PendingRequest, _ result: Result<Value, CallError>, of client: Client
  ) {
    guard let trace = request.trace else { return }
    events.inspectorSink.requestEnded(request.method, trace, result, of: client)
  }

  /// Forwards a result to the sender of the request.
  func forwardResponse(
    _ request: PendingRequest, _ result: Result<Value, SessionClientRequestFailure>
  ) {
    guard let requester = request.requester, requester !== self else {
      return handleResponse(request.purpose, result)
    }
    requester.receive(result, for: request.purpose, on: loop)
  }

  nonisolated func receive(
    _ result: Result<Value, SessionClientRequestFailure>, for purpose: RequestPurpose,
    on current: (any EventLoop)?
  ) {
    perform(on: current) { $0.handleResponse(purpose, result) }
  }

  nonisolated func receiveProgress(
    _ value: Value, of call: CallNumber, on current: (any EventLoop)?
  ) {
    perform(on: current) { $0.reportProgress(value, of: call) }
  }

  /// Performs work in the session: at once if `current`, the loop of the caller, is its own.
  nonisolated func perform(
    on current: (any EventLoop)?, _ work: @escaping @Sendable (isolated Session) -> Void
  ) {
    guard current !== loop else { return assumeIsolated { work($0) } }
    loop.execute { self.assumeIsolated { work($0) } }
  }

  /// Returns the client that is to serve a call; `nil` if it is gone.
  func host(_ chosen: ChosenHost) -> ServerHosts.ServerHost? {
    if let client = clients[chosen.client] {
      return .init(name: client.name, location: .local(client, session: .init(requester: self)))
    }
    return environment.serverHosts[chosen.client]
  }

  func handleResponse(
    _ purpose: RequestPurpose, _ result: Result<Value, SessionClientRequestFailure>
  ) {
    switch purpose {
    case .close: break
    case .open(let page):
      let failure: SessionClientRequestFailure? =
        if case .failure(let failure) = result { failure } else { nil }
      perform(pages.handleResponse(page, failure?.pageError, declined: failure?.isDecline == true))
    case .run(let number) where calls[number]?.resolution != nil && result.isDecline:
      CallRunner.resumeDeclined(number, in: self)
    case .run(let number):
      if case .failure(let failure) = result, let error = failure.lossOfHost,
        IdempotentCalls.restart(number, after: error, in: self)
      {
        return
      }
      settle(number, result.map(SessionCallResponse.value).mapError(\.taskError))
    case .push(let number):
      settle(number, result.map(SessionCallResponse.value).mapError(\.callError))
    }
  }

  /// Handles a deadline that has passed.
  private func fire(_ deadline: SessionDeadline) {
    switch deadline {
    case .call(let number): stop(number, .deadlineExceeded)
    case .opening(let page): perform(pages.timeOut(page))
    case .expiry(let id): SessionTokenExpiry.check(id, in: self)
    case .acknowledgement(let id): SessionInboundSequence.sendDelayedAcknowledgement(id, in: self)
    case .resume(let id): SessionResumption.expire(id, in: self)
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
      traceResult(request, .failure(error), of: client)
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
  /// The origin of a call: a new request, or a call that continues.
  enum CallOrigin {
    case request(ReplyHandle)
    case call(ActiveCall)
  }

  /// Begins the call of a request that does not complete at once. `size` is the approximate memory
  /// that it uses, in bytes. Fails if the client has too many calls, or if they use too much
  /// memory.
  func beginCall(
    _ origin: CallOrigin, _ kind: CallKind = .invoke, timeout: Duration? = nil,
    size: @autoclosure () -> Int
  ) throws(CallError) -> ActiveCall {
    switch origin {
    case .call(let call): return call
    case .request(let handle):
      if state.rejectsRequests { throw .shuttingDown }
      let charge = try handle.client.charge(ActiveCall.overhead + handle.id.size + size())
      let number = calls.makeNumber()
      try handle.client.calls.begin(number, at: handle)
      clientWriter.markChanged(handle.client)
      // Otherwise the trace is one of an earlier request.
      let trace = environment.inspector.tracesCalls ? handle.client.trace : nil
      let callStart = CallStart(start: environment.meter.start, trace: trace)
      if let trace = callStart.trace {
        events.inspectorSink.callStarted(trace, number, handle)
      }
      return applyTimeout(calls.begin(number, kind, .client(handle, callStart), charge), timeout)
    }
  }

  /// Begins a call of Swift code. If the session has ended, the call fails at once and the result
  /// is `nil`.
  func beginCall(
    _ number: CallNumber, _ kind: CallKind, _ caller: AppCaller, timeout: Duration?
  ) -> ActiveCall? {
    var caller = caller
    if environment.inspector.isActive {
      caller.trace = events.inspectorSink.makeTrace(of: kind, number)
    }
    let call = applyTimeout(calls.begin(number, kind, .app(caller)), timeout)
    guard state.isEnding else { return call }
    // A push may be sent again to the next owner of a session that is handed over.
    settle(
      number,
      .failure(
        state.isHandingOver
          ? .shuttingDown : CallError(.cancelledByServer, "The session of the call has ended")))
    return nil
  }

  private func applyTimeout(_ call: ActiveCall, _ timeout: Duration?) -> ActiveCall {
    if let timeout {
      call.deadlineTimer = setTimer(timeout, .call(call.number))
      call.deadline = loop.nanoseconds &+ UInt64(max(timeout / .nanoseconds(1), 0))
    }
    return call
  }

  /// Stops counting a call as one in flight, because its page is shown.
  func stopCounting(_ call: ActiveCall) {
    guard call.isCounted, case .client(let handle, _) = call.caller else { return }
    call.isCounted = false
    handle.client.calls.stopCounting(at: handle)
  }

  /// Returns a number for a new call.
  func makeCallNumber() -> CallNumber { calls.makeNumber() }

  /// Returns a call that has not ended.
  func call(_ number: CallNumber) -> ActiveCall? { calls[number] }

  /// Completes a call. A call that has its result already keeps it. The failure handler may recover
  /// a call that fails.
  func settle(_ number: CallNumber, _ result: Result<SessionCallResponse, CallError>) {
    if case .failure(let error) = result, let call = calls[number],
      SessionFailureHandlers.recover(call, from: error, in: self)
    {
      return
    }
    if let call = calls.end(number) { finish(call, result) }
  }

  private func finish(_ call: ActiveCall, _ result: Result<SessionCallResponse, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    if let task = call.taskStart { events.emitTaskEnd(of: task, error) }
    if let error {
      events.emit(failed: call.attemptedOperation, error)
      // `respond` records the refusal of a client's own request.
      if error.isRefusal, case .app(let caller) = call.caller, let rights = caller.rights {
        events.recordRefusal(error, of: nil, about: call.uri, by: rights.caller)
      }
    }
    call.span?.end(error)
    switch call.caller {
    case .app(let caller):
      let result = result.map(call.kind.adapted)
      if caller.trace != nil { events.inspectorSink.appCallEnded(call, result) }
      caller.onResult(result)
    case .client(let handle, let callStart):
      let leaves = handle.client.calls.end(call.number, at: handle, isCounted: call.isCounted)
      // After a crash, the client would otherwise get another response.
      if call.isStored { journal?.recordChange(.clientState(handle.client.id)) }
      if leaves { removeLater(handle.client.id) }
      switch result {
      case .success(let response): respond(call.kind.adapted(response), to: handle, callStart)
      case .failure(let error): respond(error, to: handle, callStart, about: call.uri)
      }
    }
  }

  /// Removes a client in a later turn, when its last response was sent. Call on any thread.
  nonisolated func removeLater(_ id: ClientID) {
    loop.execute { [weak self] in self?.assumeIsolated { $0.remove(id) } }
  }

  /// Forwards a call to a client, whose response, progress and failure are the call's.
  func forward(
    _ method: String, _ params: Value, to host: ServerHosts.ServerHost, _ call: ActiveCall
  ) {
    switch host.location {
    case .remote(let host):
      let request = PeerHostRequest(to: host, environment.cluster)
      call.work = .remoteRequest(request)
      request.send(method, params, for: call.number, of: id, by: self, call.rights)
    case .local(let client, let hostSession):
      guard let hostSession = hostSession.requester as? Session, hostSession.loop !== loop else {
        return forward(method, params, to: client, call)
      }
      let request = LoopHostRequest(to: client, of: hostSession)
      call.work = .remoteRequest(request)
      request.send(method, params, for: .run(call.number), by: self, call.rights)
    }
  }

  /// Forwards a call to a client on this loop.
  func forward(_ method: String, _ params: Value, to host: Client, _ call: ActiveCall) {
    // The request waits until the store knows who works on the call.
    if let key = call.leadKey { journal?.recordChange(.idempotencyKey(key)) }
    guard let id = request(host, method, params, for: .run(call.number)) else { return }
    call.work = .request(id, host)
    if let key = call.leadKey {
      idempotencyKeys.recordHostRequest(.init(client: host.id, id: id, method: method), of: key)
    }
  }

  /// Records a request to a host that has got its number, if it does the work of an idempotency key.
  func recordHostRequest(_ request: PendingRequest) {
    if let key = leadKey(of: request) { journal?.recordChange(.idempotencyKey(key)) }
  }

  /// Returns the idempotency key whose work a request does; `nil` if it does none, or has no number
  /// yet.
  func leadKey(of request: PendingRequest) -> ScopedKey? {
    guard case .run(let number) = request.purpose, request.sequenceNumber > 0,
      request.requester == nil || request.requester === self
    else { return nil }
    return calls[number]?.leadKey
  }

  /// Starts the time of the openings at a host that is connected again.
  func startOpeningTimeouts(at host: Client) {
    for opening in pages.markConnected(host.name) where opening.request != nil {
      opening.timeoutTimer?.cancel()
      opening.timeoutTimer = setTimer(limits.pageOpen, .opening(page: opening.page.id))
    }
  }

  /// Removes a call that has not begun its work, so that its request can be performed again.
  func removeHeldCall(_ number: CallNumber) -> ReplyHandle? {
    guard let call = calls.end(number), case .client(let handle, _) = call.caller else {
      return nil
    }
    handle.client.calls.end(number, at: handle, isCounted: call.isCounted)
    return handle
  }

  /// Changes the stack in turn, if the policy allows it for each page that closes, and completes the
  /// call with the change.
  func changeStack(
    _ operation: StackOperation, _ exts: ValueObject = [:], by rights: Rights,
    as method: PolicyRouteMethod,
    for call: ActiveCall
  ) {
    call.work = .operation
    pages.change(operation, for: call.number, by: rights.caller, exts: exts) { [resolver] page in
      resolver.denial(of: method, about: page, to: rights)
    }
    perform([])
  }

  /// Forwards the progress of a call to its caller. Progress after the result is dropped.
  func reportProgress(_ value: Value, of number: CallNumber) {
    if case .app(let caller)? = calls[number]?.caller { caller.onProgress?(value) }
    guard case .client(let handle, _)? = calls[number]?.caller, !handle.isNotification else {
      return
    }
    clientWriter.sendProgress(handle.client, handle.id, value)
  }

  /// Stops a call before its work is done. A call whose page is shown continues until the page is
  /// closed.
  func stop(_ number: CallNumber, _ reason: StopReason) {
    // If the last waiting request of a key is cancelled or times out, the key's call stops, and the
    // request with it. A caller that has left leaves the call to clients that return.
    if case .key(let name)? = calls[number]?.work,
      reason == .cancelled || reason == .deadlineExceeded,
      let leader = idempotencyKeys.leader(ofLastWaiter: number, name)
    {
      return stop(leader, reason)
    }
    switch calls.stop(number, reason) {
    case nil: break
    case .close(let page): perform(pages.cancel(page, for: number))
    case .end(let call):
      if case .page(let page) = call.work { pages.removeOpener(number, of: page) }
      finish(call, .failure(reason.error))
      switch call.work {
      case .none, .page: break
      case .key(let name): idempotencyKeys.removeWaiter(call.number, name)
      case .task(let task): task.cancel()
      case .request(let id, let client):
        if let caller = call.caller.client { clientWriter.retainSlot(id, client, caller) }
        clientWriter.cancelRequest(id, client)
      case .remoteRequest(let request): request.cancel(holdingSlotOf: call.caller.client, on: loop)
      case .operation:
        let actions = pages.abandon(number)
        for case .cancelRequest(.client(let id, let host)) in actions {
          if let caller = call.caller.client { clientWriter.retainSlot(id, host, caller) }
        }
        perform(actions)
      }
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
        if case .close(let page, _, _, _) = action {
          SessionResumption.handlePageClosed(page.id, in: self)
        }
      }
      pendingActions.append(contentsOf: pages.advance())
    } while !pendingActions.isEmpty
  }
}

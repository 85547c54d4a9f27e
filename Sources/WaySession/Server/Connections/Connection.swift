import WayRPC
import WayRouting
import WayTransport
import WayValues

/// One connection before it has a session: it decodes messages, opens or resumes a session, and
/// forwards all other messages to that session.
actor Connection: MessageReceiver {
  private nonisolated let channel: any MessageChannel
  private nonisolated let handshake: Handshake
  private nonisolated let loopSessions: LoopSessions
  private nonisolated let executor: UnownedSerialExecutor
  private let decoder: MessageDecoder
  private var state: SessionAdmissionState
  private var membership: (session: Session, client: ClientID)?
  private var rejectedTokens = 0
  /// Its place among the connections of its user; `nil` before the client is identified, and without
  /// a user.
  private var userSlot: UserSlot?
  /// The user that the client last authenticated as.
  private var user: String?
  private var openTimer: (any ScheduledWork)?
  private var writer = MessageWriter()
  /// Whether another server relays it.
  private let isRelayed: Bool
  /// When it was accepted, in nanoseconds of the loops' clock: one time, or a range if another
  /// server relays it.
  private let acceptTime: ClosedRange<UInt64>

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// Creates a connection. `rejectedTokens` is how many tokens were rejected before it was moved to
  /// this loop.
  init(
    _ channel: any MessageChannel, _ handshake: Handshake, loopSessions: LoopSessions,
    rejectedTokens: Int = 0, acceptTime: ClosedRange<UInt64>? = nil, isRelayed: Bool = false
  ) {
    self.isRelayed = isRelayed
    let acceptedAt = handshake.receivedAt ?? channel.loop.nanoseconds
    self.acceptTime = acceptTime ?? acceptedAt...acceptedAt
    self.channel = channel
    self.handshake = handshake
    self.loopSessions = loopSessions
    self.rejectedTokens = rejectedTokens
    executor = channel.loop.asUnownedSerialExecutor()
    decoder = loopSessions.decoder
    state = handshake.subprotocol == nil ? .anonymous : .awaitingOpen
  }

  /// Starts the timeout for the first message. Call once, on the loop.
  nonisolated func begin() {
    assumeIsolated { $0.startOpenTimer() }
  }

  private func startOpenTimer() {
    openTimer?.cancel()
    guard hasDeadline else { return }
    openTimer = channel.loop.schedule(after: loopSessions.limits.hello) { [weak self] in
      self?.assumeIsolated { $0.openTimedOut() }
    }
  }

  nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { connection in
      guard kind == .text else { return connection.close(SessionConnection.binaryRejection) }
      let loopSessions = connection.loopSessions
      if loopSessions.scheduler.shouldDefer(message, loopSessions.meter) {
        loopSessions.scheduler.deferMessage(message, on: connection.channel) {
          [connection] message in
          connection.assumeIsolated { $0.receive(message) }
        }
      } else {
        connection.receive(message)
      }
    }
  }

  private func receive(_ message: RawSpan) {
    loopSessions.meter.begin()
    handle(decoder.decode(message))
  }

  /// Handles a message that ``SessionConnection`` does not. Call on the loop.
  nonisolated func receive(unhandled incoming: FrameContent) {
    assumeIsolated { $0.handle(incoming) }
  }

  nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { $0.end(code) }
  }

  /// Whether the client has not begun yet, and must do so in time.
  private var hasDeadline: Bool {
    state.hasDeadline(
      identifies: loopSessions.configuration.sessions.identify != nil, hasSession: membership != nil
    )
  }

  private func openTimedOut() {
    guard hasDeadline else { return }
    close(
      (.noHello, "No session.open within \(loopSessions.limits.hello.milliseconds) ms"))
  }

  /// The client, as far as it is known.
  private var eventClient: EventClient {
    let caller = membership.flatMap { session, client in
      session.assumeIsolated { $0.clients[client]?.rights.caller }
    }
    return caller.flatMap(EventClient.init) ?? EventClient(handshake, user: user)
  }

  /// Closes the connection; messages that still arrive are ignored.
  private func close(_ end: (code: CloseCode, reason: String)) {
    state = .closed
    let client = eventClient
    loopSessions.sessionServer.rejectionLog.add(
      .connection, Int(end.code.rawValue), end.reason, address: handshake.address)
    loopSessions.configuration.eventSink.connectionRejected(end.code, end.reason, client)
    if end.code == .notAuthenticated {
      loopSessions.sessionServer.auditTrail?.recordThrottled(
        AuditRecord(
          client: client, action: AuditRecord.refusal,
          result: .refused(code: Int(end.code.rawValue), rule: nil, reason: end.reason)))
    }
    channel.close(end.code, end.reason)
  }

  private func end(_ code: UInt16?) {
    state = .closed
    openTimer?.cancel()
    leave(code)
  }

  private func leave(_ code: UInt16?, keepsConnection: Bool = false) {
    guard let (session, client) = membership else { return }
    membership = nil
    session.assumeIsolated { [channel] session in
      if keepsConnection {
        session.remove(client, code: code, keepsConnection: true)
      } else {
        SessionResumption.handleDisconnect(client, channel, code: code, in: session)
      }
    }
  }
}

extension Connection {
  private func handle(_ incoming: FrameContent) {
    switch incoming {
    case .message(.request(let request)):
      switch state.received(request.method, inBatch: false) {
      case .forward: forward(incoming)
      case .openSession: open(request)
      case .resumeSession: resume(request)
      case let action: reject(request, action)
      }
    case .batch(let messages) where messages.contains(where: opensSession): rejectBatch(messages)
    case .message, .batch, .malformed: deliver(incoming)
    }
  }

  /// Whether a message must not be forwarded to the session as it is.
  private func opensSession(_ message: Message) -> Bool {
    guard case .request(let request) = message else { return false }
    return state.received(request.method, inBatch: true) != .forward
  }

  /// Handles messages that need no decision of the connection; they are forwarded if there is a
  /// session.
  private func deliver(_ incoming: FrameContent) {
    switch (state, incoming) {
    case (.closed, _): break
    case (.awaitingOpen, .malformed(let error)): send(.null, .failure(error))
    case (.awaitingOpen, .message(.invalid(let id, let error))): send(id, .failure(error))
    case (.awaitingOpen, .batch(let messages)): rejectBatch(messages)
    case (.awaitingOpen, .message): break
    case (.anonymous, _), (.open, _): forward(incoming)
    }
  }

  /// Forwards a message to the session. A plain connection gets its anonymous session with its
  /// first message. It is closed if the app requires a token, or the server accepts no more
  /// sessions.
  private func forward(_ incoming: FrameContent) {
    if let membership { return forward(incoming, to: membership) }
    identify(handshake) { connection, identity in
      do throws(CallError) {
        connection.forward(incoming, to: try connection.joinAnonymously(try identity.get()))
      } catch {
        if error.protocolCode == .unavailable {
          connection.close((.overloaded, error.message))
        } else {
          connection.close((.notAuthenticated, "Send session.open first: \(error.message)"))
        }
      }
    }
  }

  private func forward(
    _ incoming: FrameContent, to membership: (session: Session, client: ClientID)
  ) {
    membership.session.assumeIsolated { [loopSessions] in
      loopSessions.dispatcher.receive(.decoded(incoming), from: membership.client, in: $0)
    }
  }

  /// Asks the app for the client's identity, if the app authenticates clients, and counts the
  /// connection of its user. No messages are received until then, and `completion` is not called if
  /// the connection is closed by then.
  private func identify(
    _ handshake: Handshake, resumes: Bool = false,
    _ completion: @escaping @Sendable (isolated Connection, Result<Identity, CallError>) -> Void
  ) {
    guard loopSessions.authenticatesClients else { return completion(self, .success(Identity())) }
    if let relay = channel as? RelayChannel {
      let now = loopSessions.configuration.now()
      let identity = Result { () throws(CallError) in
        try relay.identity(for: handshake.token, at: now)
      }
      return completion(self, admit(identity, resumes: resumes))
    }
    channel.pause()
    openTimer?.cancel()
    Task {
      let identity: Result<Identity, CallError>
      do throws(CallError) {
        identity = .success(try await loopSessions.identity(of: handshake))
      } catch {
        identity = .failure(error)
      }
      guard state != .closed else { return }
      loopSessions.meter.begin()
      completion(self, admit(identity, resumes: resumes))
      channel.resume()
    }
  }

  /// Counts the connection among those of its user. Fails with 2503 if the user has too many, or if
  /// the connection is reserved for administrators and the client is none.
  private func admit(
    _ identity: Result<Identity, CallError>, resumes: Bool
  ) -> Result<Identity, CallError> {
    Result { () throws(CallError) in
      let identity = try identity.get()
      user = identity.user
      guard mayUseConnection(identity) else { throw .reservedForAdministrators }
      let quotas = loopSessions.sessionServer.userQuotas
      // A further attempt on the same connection takes its place.
      userSlot = nil
      userSlot =
        resumes
        ? quotas.resumedConnection(of: identity.user)
        : try quotas.connection(of: identity.user, at: loopSessions.loop.nanoseconds)
      return identity
    }
  }

  private func mayUseConnection(_ identity: Identity) -> Bool {
    let handshake = handshake
    return loopSessions.assumeIsolated { $0.mayUseConnection(identity, handshake) }
  }

  /// Resumes a client that has lost its connection; if that is not possible, opens a new session.
  private func resume(_ request: Request) {
    loopSessions.meter.begin()
    let resumeRequest: ResumeRequest
    do {
      resumeRequest = try ResumeRequest(request, limits: loopSessions.limits, digest: relayDigest)
    } catch {
      return rejectOpen(request, error)
    }
    if let reason = loopSessions.assumeIsolated({ $0.rejectionReason }) {
      return close((.drain, "\(reason); try another server"))
    }
    if let target = loopSessions.sessionServer.loopSessions(ofClient: resumeRequest.claim.client) {
      if target === loopSessions { return resume(resumeRequest, request) }
      return move(to: target) { $0.resume(resumeRequest, request) }
    }
    guard let session = ClientName.session(of: resumeRequest.claim.client) else {
      return resume(resumeRequest, request, isNotFound: true)
    }
    find(session, request) { connection, isNotFound in
      let sessionServer = connection.loopSessions.sessionServer
      if let target = sessionServer.loopSessions(ofClient: resumeRequest.claim.client)
        ?? sessionServer.loopSessions(ofSession: session),
        target !== connection.loopSessions
      {
        return connection.move(to: target) { $0.resume(resumeRequest, request) }
      }
      connection.resume(resumeRequest, request, isNotFound: isNotFound)
    }
  }

  /// Calls `completion` when the session is found on this server, or on none. If another server
  /// owns the session, the connection is relayed to it instead. Without a cluster, `completion` is
  /// called at once.
  private func find(
    _ session: String, _ request: Request,
    _ completion: @escaping @Sendable (isolated Connection, _ isNotFound: Bool) -> Void
  ) {
    guard let cluster = loopSessions.sessionServer.cluster else { return completion(self, true) }
    channel.pause()
    openTimer?.cancel()
    Task {
      let location = await cluster.finder.find(session, for: loopSessions.loop)
      guard state != .closed else { return }
      loopSessions.meter.begin()
      switch location {
      case .local: completion(self, false)
      case .notFound: completion(self, true)
      case .server(let server) where !isRelayed:
        await relay(request, of: session, to: server)
      case .server: close((.drain, "the session has moved; try again"))
      case .unknown(let reason):
        // Clients may cause this often, so it is not logged as a warning.
        loopSessions.configuration.logger?.info(
          "session not found",
          metadata: [
            "session": "\(session.quoted)", "reason": "\(reason)",
            "address": "\(handshake.address ?? "")",
          ])
        close((.drain, "the session cannot be reached now; try again"))
      }
      channel.resume()
    }
  }

  /// The digest that the tokens in the messages of a relayed connection have; nil if the connection
  /// is not relayed.
  private var relayDigest: PresentedToken.TokenDigest? {
    guard isRelayed, let engine = loopSessions.sessionServer.cluster?.engine else { return nil }
    return { engine.digest(of: $0, in: $1) }
  }

  /// Relays the connection to the server that owns the session. This server authenticates the
  /// client, so that the owner receives its identity, and no token. No messages are received
  /// meanwhile.
  private func relay(_ request: Request, of session: String, to server: String) async {
    guard let cluster = loopSessions.sessionServer.cluster,
      (try? writer.writeRequest(request.id, request.method, request.params ?? .null)) != nil
    else { return close((.drain, "the session is on another server")) }
    let engine = cluster.engine
    var tokens = RelayedTokens { engine.digest(of: $0, in: $1) }
    let message = writer.bytes
    let first = tokens.replace(in: message)
    // The token of the request replaces that of the handshake.
    let credential = first?.credentials.first ?? handshake.token.map { tokens.refer(to: $0) }
    var relayedHandshake = handshake
    relayedHandshake.token = credential?.reference
    var relayRequest = RelayRequest(session: session, handshake: relayedHandshake)
    var verify: (@Sendable (String) async -> Result<Identity, CallError>)?
    // A client that joins without a token has the identity of the session's first client.
    let needsIdentity =
      credential != nil || request.method != "session.open"
      || request.params?["join"]?.object == nil || handshake.isReserved
    if loopSessions.authenticatesClients {
      let authenticate = { @Sendable [loopSessions, handshake] (token: String?) async in
        var handshake = handshake
        handshake.token = token
        do throws(CallError) {
          return Result<Identity, CallError>.success(try await loopSessions.identity(of: handshake))
        } catch {
          return .failure(error)
        }
      }
      verify = { await authenticate($0) }
      if needsIdentity {
        let identity = await authenticate(credential?.token)
        guard state != .closed else { return }
        guard (try? identity.get()).map(mayUseConnection) ?? !handshake.isReserved else {
          return close((.overloaded, CallError.reservedForAdministrators.message))
        }
        relayRequest.identity = RelayedIdentity(reference: credential?.reference, identity)
      }
    }
    leave(nil, keepsConnection: true)
    state = .closed
    cluster.relays.open(
      channel, since: acceptTime.lowerBound, relayRequest, at: server,
      first: first?.bytes ?? message, tokens: tokens, verify: verify)
  }

  /// Resumes a client. If `isNotFound`, no server has the session; otherwise the client may retry
  /// if it is not here.
  private func resume(_ resumeRequest: ResumeRequest, _ request: Request, isNotFound: Bool = false)
  {
    var handshake = handshake
    handshake.token = resumeRequest.open.token ?? handshake.token
    // Without a token of its own, a client keeps its identity.
    guard handshake.token != nil else {
      return resume(resumeRequest, request, nil, isNotFound: isNotFound)
    }
    identify(handshake, resumes: true) { connection, identity in
      do throws(CallError) {
        connection.resume(resumeRequest, request, try identity.get(), isNotFound: isNotFound)
      } catch {
        connection.reject(resumeRequest.open, request, error)
      }
    }
  }

  private func resume(
    _ resumeRequest: ResumeRequest, _ request: Request, _ identity: Identity?, isNotFound: Bool
  ) {
    let session = ClientName.session(of: resumeRequest.claim.client)
    if let session, loopSessions.assumeIsolated({ $0.isReleased(session) }) {
      return close((.drain, "the session moves to another server"))
    }
    let rejectionReason: ResumeRejection.ResumeRejectionReason
    do throws(CallError) {
      switch try loopSessions.resume(
        resumeRequest.claim, identity, handshake, on: channel, since: acceptTime)
      {
      case .success(let found):
        return completeResume(with: found, request)
      case .failure(let rejection): rejectionReason = rejection.reason
      }
    } catch {
      return reject(resumeRequest.open, request, error)
    }
    if rejectionReason == .stale {
      // In a cluster this may still be the later connection, which a retry shows.
      return close(
        (
          loopSessions.sessionServer.cluster == nil ? .takenOver : .drain,
          "A later connection has resumed the client"
        ))
    }
    let isLocal =
      session.map { session in loopSessions.assumeIsolated { $0.isLocal(session) } } == true
    if rejectionReason == .unknown, !isNotFound, !isLocal, loopSessions.sessionServer.cluster != nil
    {
      return close((.drain, "the session has moved; try again"))
    }
    if rejectionReason == .token {
      let reason = "session.resume: the token is not valid for this client"
      recordRefusal(CallError(.notAuthenticated, reason), of: request)
      countRejectedToken(reason)
    }
    if rejectionReason == .user {
      let reason = "session.resume: the client belongs to another user"
      recordRefusal(
        .forbidden("identity", reason), of: request, about: resumeRequest.claim.client)
    }
    if state == .closed { return }
    var openRequest = resumeRequest.open
    openRequest.resumeRejection = rejectionReason
    open(openRequest, request)
  }

  private func completeResume(with found: ResumedClient, _ request: Request) {
    membership = (found.session, found.client)
    if userSlot == nil {
      // It has resumed without a token.
      let user = found.session.assumeIsolated {
        $0.clients[found.client]?.rights.caller.identity.user
      }
      self.user = user ?? nil
      userSlot = loopSessions.sessionServer.userQuotas.resumedConnection(of: self.user)
    }
    whenStored(found.session) { connection in
      connection.attach(found.session, found.client)
      connection.finish(request, .success(found.response))
      found.session.assumeIsolated { SessionResumption.completeResume(found.client, in: $0) }
    }
  }

  /// Calls `completion` when the store has all changes of a session that the client is notified of;
  /// receives no messages until then. Calls it at once if the store has them already.
  private func whenStored(
    _ session: Session, _ completion: @escaping @Sendable (isolated Connection) -> Void
  ) {
    let mustWait = session.assumeIsolated { $0.journal?.barrier != nil }
    guard mustWait else { return completion(self) }
    channel.pause()
    openTimer?.cancel()
    session.assumeIsolated { session in
      session.journal?.whenStored { [self] in
        assumeIsolated { connection in
          guard connection.state != .closed else { return }
          connection.loopSessions.meter.begin()
          completion(connection)
          connection.channel.resume()
        }
      }
    }
  }

  /// Forwards all messages to a session that a client has opened, from now on.
  private func attach(_ session: Session, _ client: ClientID) {
    forwardAll(to: session, client)
    openTimer?.cancel()
    state.opened()
  }

  private func forwardAll(to session: Session, _ client: ClientID, isAnonymous: Bool = false) {
    channel.admit()
    channel.attach(
      SessionConnection(
        connection: self, channel: channel, decoder: decoder, dispatcher: loopSessions.dispatcher,
        scheduler: loopSessions.scheduler,
        session: session, client: client, isAnonymous: isAnonymous,
        leaseValidity: loopSessions.leaseValidity))
  }

  private func joinAnonymously(
    _ identity: Identity
  ) throws(CallError) -> (session: Session, client: ClientID) {
    let session = try makeSession(of: identity)
    var joiningClient = JoiningClient(identity, handshake)
    joiningClient.identitySource = .session(definesIt: true)
    let client = try withSession(session) { [channel, joiningClient] session throws(CallError) in
      let client = try session.makeClient(joiningClient, channel: channel)
      session.add(client)
      return client.id
    }
    join(session, client, isNew: true)
    forwardAll(to: session, client, isAnonymous: true)
    return (session, client)
  }

  private func makeSession(
    of identity: Identity, isDurable: Bool = false
  ) throws(CallError) -> Session {
    let leaving = membership == nil ? 0 : 1
    return try loopSessions.assumeIsolated { [handshake] loopSessions in
      Result { () throws(CallError) in
        try loopSessions.makeSession(
          of: identity, handshake, leaving: leaving, isDurable: isDurable)
      }
    }.get()
  }

  /// Makes this connection that of a client.
  private func join(_ session: Session, _ client: ClientID, isNew: Bool) {
    leave(nil, keepsConnection: true)
    membership = (session, client)
    if isNew { loopSessions.assumeIsolated { $0.add(session) } }
  }

  /// Runs some work in a session, which is on the loop of this connection.
  private func withSession<Success: Sendable>(
    _ session: Session, _ work: @Sendable (isolated Session) throws(CallError) -> Success
  ) throws(CallError) -> Success {
    try session.assumeIsolated { session in
      Result { () throws(CallError) in try work(session) }
    }.get()
  }

  private func open(_ request: Request) {
    loopSessions.meter.begin()
    do {
      let openRequest = try SessionOpenRequest(
        request, limits: loopSessions.limits, digest: relayDigest)
      guard let join = openRequest.join else {
        // While this server shuts down, another opens new sessions.
        if loopSessions.sessionServer.isDraining, !isRelayed,
          let successor = loopSessions.sessionServer.cluster?.successor
        {
          channel.pause()
          openTimer?.cancel()
          Task {
            await relay(request, of: "", to: successor)
            channel.resume()
          }
          return
        }
        return open(openRequest, request)
      }
      if let reason = loopSessions.assumeIsolated({ $0.rejectionReason }) {
        return close((.drain, "\(reason); try another server"))
      }
      if loopSessions.assumeIsolated({ $0.isReleased(join.session) }) {
        return close((.drain, "the session moves to another server"))
      }
      if let target = loopSessions.sessionServer.loopSessions(ofSession: join.session) {
        return self.join(openRequest, join, at: target, request)
      }
      find(join.session, request) { connection, _ in
        let target =
          connection.loopSessions.sessionServer.loopSessions(ofSession: join.session)
          ?? connection.loopSessions
        connection.join(openRequest, join, at: target, request)
      }
    } catch {
      rejectOpen(request, error)
    }
  }

  /// Moves to the loop of the session to join. A plain client that has a session already leaves it
  /// only if the other session accepts it.
  private func join(
    _ openRequest: SessionOpenRequest, _ join: SessionOpenRequest.JoinParams,
    at target: LoopSessions,
    _ request: Request
  ) {
    if target === loopSessions { return open(openRequest, request) }
    guard membership != nil else { return move(to: target) { $0.open(openRequest, request) } }
    channel.pause()
    target.loop.execute { [self] in
      let error: CallError? = target.assumeIsolated { target in
        do throws(CallError) {
          _ = try target.session(join.session, joinToken: join.token)
          return nil
        } catch {
          return error
        }
      }
      loopSessions.loop.execute { [self] in
        assumeIsolated { connection in
          guard connection.state != .closed else { return }
          connection.channel.resume()
          if let error { return connection.reject(openRequest, request, error) }
          connection.leave(nil, keepsConnection: true)
          connection.move(to: target) { $0.open(openRequest, request) }
        }
      }
    }
  }

  /// Moves the connection to another loop, where a new ``Connection`` continues: a session and its
  /// clients are on one loop.
  private func move(
    to target: LoopSessions, _ completion: @escaping @Sendable (isolated Connection) -> Void
  ) {
    openTimer?.cancel()
    let isMoving = channel.move(to: target.loop) {
      [handshake, rejectedTokens, acceptTime, isRelayed] channel in
      let connection = Connection(
        channel, handshake, loopSessions: target, rejectedTokens: rejectedTokens,
        acceptTime: acceptTime,
        isRelayed: isRelayed)
      channel.attach(connection)
      connection.begin()
      connection.assumeIsolated { completion($0) }
    }
    guard !isMoving else { return }
    close(
      isRelayed
        ? (.drain, "the session is on another event loop now; try again")
        : (.overloaded, "The server is shutting down"))
  }

  private func open(_ openRequest: SessionOpenRequest, _ request: Request) {
    var handshake = handshake
    handshake.token = openRequest.token ?? handshake.token
    // A client that joins without a token of its own has the identity of the session's first
    // client.
    guard openRequest.join == nil || handshake.token != nil || handshake.isReserved else {
      return open(openRequest, request, nil)
    }
    identify(handshake) { connection, identity in
      do throws(CallError) {
        connection.open(openRequest, request, try identity.get())
      } catch {
        connection.reject(openRequest, request, error)
      }
    }
  }

  private func open(_ openRequest: SessionOpenRequest, _ request: Request, _ identity: Identity?) {
    do throws(CallError) {
      let (session, client, result) = try open(openRequest, identity)
      whenStored(session) { connection in
        connection.attach(session, client)
        connection.finish(request, .success(result))
        if !openRequest.hosts.isEmpty {
          session.assumeIsolated { session in
            AbsentHostRequests.move(in: session)
            SessionDeepLinkRunner.hostsChanged(in: session)
          }
        }
      }
    } catch {
      reject(openRequest, request, error)
    }
  }

  private func reject(_ openRequest: SessionOpenRequest, _ request: Request, _ error: CallError) {
    finish(request, .failure(error))
    switch error.protocolCode {
    case .unavailable: close((.overloaded, error.message))
    case .notAuthenticated: rejectToken(error.message, joins: openRequest.join != nil)
    default: break
    }
    startOpenTimer()
  }

  /// Rejects a token. The number of rejections per connection is limited.
  private func rejectToken(_ reason: String, joins: Bool) {
    loopSessions.rejectedTokens.add(joins: joins)
    countRejectedToken(
      reason,
      remedy: joins ? "the session's joinToken, or an invitation that is still good" : nil)
  }

  private func countRejectedToken(_ reason: String, remedy: String? = nil) {
    loopSessions.sessionServer.rejectionLog.add(
      .token, ErrorCode.notAuthenticated.rawValue, reason, address: handshake.address,
      remedy: remedy)
    loopSessions.configuration.eventSink.tokenRejected(reason, eventClient)
    rejectedTokens += 1
    if rejectedTokens >= SessionTokenRejections.maxPerConnection {
      close((.tooMany, "\(rejectedTokens) tokens were rejected"))
    }
  }

  /// Opens a new session, or joins the one that a client has requested, and returns the result.
  /// Fails with nothing changed.
  private func open(
    _ openRequest: SessionOpenRequest, _ identity: Identity?
  ) throws(CallError) -> (session: Session, client: ClientID, result: Value) {
    let session: Session
    var invitation: Invitation?
    if let join = openRequest.join {
      (session, invitation) = try loopSessions.assumeIsolated { loopSessions in
        Result { () throws(CallError) in
          try loopSessions.session(join.session, joinToken: join.token)
        }
      }.get()
    } else {
      session = try makeSession(of: identity ?? Identity(), isDurable: true)
    }
    let (client, result): (ClientID, Value) = try withSession(session) {
      [channel, handshake, invitation, isNew = openRequest.join == nil]
      session throws(CallError) in
      var joiningClient = JoiningClient(identity ?? session.identity, handshake)
      joiningClient.software = openRequest.software
      joiningClient.page = openRequest.page
      if isNew {
        joiningClient.identitySource = .session(definesIt: true)
      } else if identity == nil, invitation == nil {
        joiningClient.identitySource = .session(definesIt: false)
      }
      if let invitation { try joiningClient.accept(invitation) }
      let client = try session.add(joiningClient, openRequest.hosts, on: channel)
      var result = session.openResult(client)
      if let rejection = openRequest.resumeRejection {
        result["resumed"] = false
        result["reason"] = .string(rejection.rawValue)
      }
      return (client.id, .object(result))
    }
    join(session, client, isNew: openRequest.join == nil)
    return (session, client, result)
  }

  private func rejectOpen(_ request: Request, _ error: CallError) {
    finish(request, .failure(error))
    if error.code == ErrorCode.invalidParams.rawValue, error.data?["kind"] == "version" {
      close((.version, error.message))
    }
  }

  private func reject(_ request: Request, _ action: SessionAdmissionState.AdmissionAction) {
    loopSessions.meter.begin()
    write(action, to: request)
    writer.withBytes { channel.send($0, as: .text) }
    // A connection without a session handles one message in a turn of the loop.
    channel.pauseForOneTurn()
  }

  /// Writes the response to a request outside of a session.
  private func write(
    _ action: SessionAdmissionState.AdmissionAction, to request: Request, inBatch: Bool = false,
    limit: Int = .max
  ) {
    if action == .discover {
      record(request, nil)
      writer.writeResponse(request.id, written: OpenRPC.text, inBatch: inBatch, limit: limit)
      return
    }
    let error =
      action == .rejectInBatch
      ? CallError(.invalidRequest, "\(request.method) must not be part of a batch")
      : CallError(.sessionNotOpen, "Send session.open first")
    record(request, error)
    writer.writeError(request.id, error, inBatch: inBatch)
  }

  /// Responds to every request of a batch that cannot be forwarded to a session.
  private func rejectBatch(_ messages: [Message]) {
    let reply = SessionBatchResponse(messages)
    for (position, message) in messages.enumerated() {
      switch message {
      case .notification, .response: continue
      case .invalid(let id, let error): writer.writeError(id, error, inBatch: true)
      case .request(let request):
        let action = state.received(request.method, inBatch: true)
        loopSessions.meter.begin()
        write(
          action == .forward ? .rejectInBatch : action, to: request, inBatch: true,
          limit: loopSessions.limits.maxAnswer - reply.size)
      }
      if reply.fill(position, with: writer.bytes), let whole = reply.encoded {
        channel.send(whole.span.bytes, as: .text)
      }
    }
    channel.pauseForOneTurn()
  }

  private func finish(_ request: Request, _ result: Result<Value, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    record(request, error)
    send(request.id, result)
    guard let error else { return }
    if error.isRefusal { recordRefusal(error, of: request) }
    channel.pauseForOneTurn()
  }

  private func recordRefusal(
    _ error: CallError, of request: Request, about target: String? = nil
  ) {
    loopSessions.sessionServer.auditTrail?.recordThrottled(
      AuditRecord(refusing: request.method, with: error, by: eventClient), about: target)
  }

  private func send(_ id: RequestID, _ result: Result<Value, CallError>) {
    writer.writeResult(id, result)
    writer.withBytes { channel.send($0, as: .text) }
  }

  private func record(_ request: Request, _ error: CallError?) {
    let methodIndex = loopSessions.meter.methodIndex(
      loopSessions.dispatcher.methods.find(request.method)?.place)
    loopSessions.meter.record(methodIndex, code: error?.code)
  }
}

extension Session {
  /// Adds the client that an open request describes. Fails if the session is full, the page is not
  /// on its stack, or a host is invalid; then nothing has changed.
  fileprivate func add(
    _ joiningClient: JoiningClient, _ hosts: [SessionHostDefinition], on channel: any MessageChannel
  ) throws(CallError) -> Client {
    let client = try makeClient(joiningClient, channel: channel)
    if let page = joiningClient.page {
      guard pages.isExpected(page) else {
        throw .notOnStack("params.page: there is no page \(page.quoted) in the session")
      }
      try checkClaim(of: page, by: client)
    }
    try HostMethods.registerHosts(hosts, by: client, in: self)
    if let invitation = joiningClient.invitation {
      invitations.redeem(invitation)
      journal?.recordChange(RecordKey.invitations)
    }
    add(client)
    return client
  }

  /// Checks whether a client may say that it runs in a page, which gives it rights over the page.
  /// A client of another user may not if the policy hides the page from it. Throws 2403.
  private func checkClaim(of page: String, by client: Client) throws(CallError) {
    guard client.rights.invitation == nil,
      !identity.hasUser(of: client.rights.caller.identity), let open = pages[page]?.page,
      let denial = resolver.denial(of: .stack, about: open, to: client.rights)
    else { return }
    throw denial
  }
}

extension CallError {
  /// The error of a client that is no administrator on a connection that is reserved for them.
  static var reservedForAdministrators: CallError {
    CallError(.unavailable, "The server has reached its limit of connections; try again later")
  }
}

import WayRPC
import WayRouting
import WayTransport
import WayValues

/// One socket: it decodes what comes, opens a session on it, and hands everything else to that
/// session.
actor Connection: MessageReceiver {
  private nonisolated let channel: any MessageChannel
  private nonisolated let handshake: Handshake
  private nonisolated let hub: LoopSessions
  private nonisolated let executor: UnownedSerialExecutor
  private let decoder: MessageDecoder
  private var state: ConnectionState
  private var membership: (session: Session, client: ClientID)?
  private var refusedTokens = 0
  private var helloTimer: (any ScheduledWork)?
  private var writer = MessageWriter()
  /// Whether it came in at another server.
  private let isRelayed: Bool
  /// Between which times it came, in nanoseconds of the loops' clock: one where it came in here.
  private let began: ClosedRange<UInt64>

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// `refusedTokens` is how many were refused where it has come from.
  init(
    _ channel: any MessageChannel, _ handshake: Handshake, hub: LoopSessions,
    refusedTokens: Int = 0, began: ClosedRange<UInt64>? = nil, isRelayed: Bool = false
  ) {
    self.isRelayed = isRelayed
    let came = handshake.came ?? channel.loop.nanoseconds
    self.began = began ?? came...came
    self.channel = channel
    self.handshake = handshake
    self.hub = hub
    self.refusedTokens = refusedTokens
    executor = channel.loop.asUnownedSerialExecutor()
    decoder = hub.decoder
    state = handshake.subprotocol == nil ? .anonymous : .awaitingHello
  }

  /// Starts the time in which `session.open` must come. Call once, on the loop.
  nonisolated func begin() {
    assumeIsolated { $0.awaitHello() }
  }

  private func awaitHello() {
    helloTimer?.cancel()
    guard state == .awaitingHello else { return }
    helloTimer = channel.loop.schedule(after: hub.limits.hello) { [weak self] in
      self?.assumeIsolated { $0.helloTimedOut() }
    }
  }

  nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { connection in
      guard kind == .text else { return connection.close(SessionConnection.binaryRefusal) }
      let hub = connection.hub
      if hub.turns.isPutOff(message, hub.meter) {
        hub.turns.putOff(message, on: connection.channel) { [connection] message in
          connection.assumeIsolated { $0.take(message) }
        }
      } else {
        connection.take(message)
      }
    }
  }

  private func take(_ message: RawSpan) {
    hub.meter.begin()
    handle(decoder.decode(message))
  }

  /// Takes what ``OpenConnection`` leaves to it. Call on the loop.
  nonisolated func take(back incoming: FrameContent) {
    assumeIsolated { $0.handle(incoming) }
  }

  nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { $0.end(code) }
  }

  private func helloTimedOut() {
    guard state.helloTimedOut() else { return }
    close(
      (.noHello, "No session.open within \(hub.limits.hello.milliseconds) ms"))
  }

  /// Ends the connection; what still comes is not taken.
  private func close(_ end: (code: CloseCode, reason: String)) {
    state = .closed
    hub.group.refusals.add(
      .connection, Int(end.code.rawValue), end.reason, address: handshake.address)
    hub.configuration.observer.refused(end.code, end.reason)
    channel.close(end.code, end.reason)
  }

  private func end(_ code: UInt16?) {
    state = .closed
    helloTimer?.cancel()
    leave(code)
  }

  private func leave(_ code: UInt16?, connectionGoesOn: Bool = false) {
    guard let (session, client) = membership else { return }
    membership = nil
    session.assumeIsolated { [channel] session in
      if connectionGoesOn {
        session.remove(client, code: code, connectionGoesOn: true)
      } else {
        ClientResume.lost(client, channel, code: code, in: session)
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
      case let refusal: refuse(request, refusal)
      }
    case .batch(let messages) where messages.contains(where: opens): refuseBatch(messages)
    case .message, .batch, .malformed: take(incoming)
    }
  }

  /// Whether a message must not go to the session as it is.
  private func opens(_ message: Message) -> Bool {
    guard case .request(let request) = message else { return false }
    return state.received(request.method, inBatch: true) != .forward
  }

  /// Messages that need no decision of the connection, where there is a session to take them.
  private func take(_ incoming: FrameContent) {
    switch (state, incoming) {
    case (.closed, _): break
    case (.awaitingHello, .malformed(let error)): send(.null, .failure(error))
    case (.awaitingHello, .message(.invalid(let id, let error))): send(id, .failure(error))
    case (.awaitingHello, .batch(let messages)): refuseBatch(messages)
    case (.awaitingHello, .message): break
    case (.anonymous, _), (.open, _): forward(incoming)
    }
  }

  /// Hands a message to the session. A plain connection gets its anonymous one with its first
  /// message, or is closed where the app takes nobody without a token, or the server nobody more.
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
    membership.session.assumeIsolated { [hub] in
      hub.inbox.take(.other(incoming), from: membership.client, in: $0)
    }
  }

  /// Asks the app who the client is, where it tells. Nothing is received until then, and nothing
  /// follows where the connection is gone by then.
  private func identify(
    _ handshake: Handshake,
    _ goOn: @escaping @Sendable (isolated Connection, Result<Identity, CallError>) -> Void
  ) {
    guard hub.identifies else { return goOn(self, .success(Identity())) }
    channel.pause()
    helloTimer?.cancel()
    Task {
      let identity: Result<Identity, CallError>
      do throws(CallError) {
        identity = .success(try await hub.identity(of: handshake))
      } catch {
        identity = .failure(error)
      }
      guard state != .closed else { return }
      hub.meter.begin()
      goOn(self, identity)
      channel.resume()
    }
  }

  /// Goes on with a client whose connection was lost; where that cannot be, a new session begins.
  private func resume(_ request: Request) {
    hub.meter.begin()
    let asked: ResumeRequest
    do {
      asked = try ResumeRequest(request, limits: hub.limits)
    } catch {
      return refuseHello(request, error)
    }
    if let reason = hub.assumeIsolated({ $0.closedReason }) {
      return close((.drain, "\(reason): try another server"))
    }
    if let home = hub.group.hub(ofClient: asked.claim.client) {
      if home === hub { return resume(asked, request) }
      return move(to: home) { $0.resume(asked, request) }
    }
    guard let session = ClientName.session(of: asked.claim.client) else {
      return resume(asked, request, isNowhere: true)
    }
    find(session, request) { connection, isNowhere in
      let group = connection.hub.group
      if let home = group.hub(ofClient: asked.claim.client) ?? group.hub(ofSession: session),
        home !== connection.hub
      {
        return connection.move(to: home) { $0.resume(asked, request) }
      }
      connection.resume(asked, request, isNowhere: isNowhere)
    }
  }

  /// Goes on when it is known that a session which is not here is not elsewhere, or when it is here;
  /// where it is another server's, so is the connection from then on. At once for a server alone.
  private func find(
    _ session: String, _ request: Request,
    _ goOn: @escaping @Sendable (isolated Connection, _ isNowhere: Bool) -> Void
  ) {
    guard let cluster = hub.group.cluster else { return goOn(self, true) }
    channel.pause()
    helloTimer?.cancel()
    Task {
      let place = await cluster.finder.find(session, for: hub.loop)
      guard state != .closed else { return }
      hub.meter.begin()
      switch place {
      case .here: goOn(self, false)
      case .nowhere: goOn(self, true)
      case .server(let server) where !isRelayed: relay(request, of: session, to: server)
      case .server: close((.drain, "the session has moved: try again"))
      case .unknown(let reason):
        // As often as clients try, so it is none of the warnings.
        hub.configuration.logger?.info(
          "session not found", metadata: ["session": "\(session.quoted)", "reason": "\(reason)"])
        close((.drain, "the session cannot be reached now: try again"))
      }
      channel.resume()
    }
  }

  /// From now on the connection is one of a session of another server.
  private func relay(_ request: Request, of session: String, to server: String) {
    guard let cluster = hub.group.cluster,
      (try? writer.request(request.id, request.method, request.params ?? .null)) != nil
    else { return close((.drain, "the session is elsewhere")) }
    leave(nil, connectionGoesOn: true)
    state = .closed
    cluster.relays.open(
      channel, since: began.lowerBound, RelayHello(session: session, handshake: handshake),
      at: server, first: writer.bytes)
  }

  /// `isNowhere` where no server has the session: where it is not here either, the client may come
  /// again.
  private func resume(_ asked: ResumeRequest, _ request: Request, isNowhere: Bool = false) {
    var handshake = handshake
    handshake.token = asked.open.token ?? handshake.token
    // Without a token of its own a client is who it was.
    guard handshake.token != nil else {
      return resume(asked, request, nil, isNowhere: isNowhere)
    }
    identify(handshake) { connection, identity in
      do throws(CallError) {
        connection.resume(asked, request, try identity.get(), isNowhere: isNowhere)
      } catch {
        connection.refuse(asked.open, request, error)
      }
    }
  }

  private func resume(
    _ asked: ResumeRequest, _ request: Request, _ identity: Identity?, isNowhere: Bool
  ) {
    let session = ClientName.session(of: asked.claim.client)
    if let session, hub.assumeIsolated({ $0.isReleased(session) }) {
      return close((.drain, "the session moves to another server"))
    }
    let refusal: ClientResume.Refusal
    do throws(CallError) {
      switch try hub.resume(asked.claim, identity, handshake, on: channel, since: began) {
      case .success(let found):
        return goOn(with: found, request)
      case .failure(let refused): refusal = refused.reason
      }
    } catch {
      return refuse(asked.open, request, error)
    }
    if refusal == .stale {
      // Among servers it may be the later one all the same, which is seen when it comes again.
      return close(
        (
          hub.group.cluster == nil ? .takenOver : .drain,
          "A later connection has resumed the client"
        ))
    }
    let isHere = session.map { session in hub.assumeIsolated { $0.isHere(session) } } == true
    if refusal == .unknown, !isNowhere, !isHere, hub.group.cluster != nil {
      return close((.drain, "the session has moved: try again"))
    }
    if refusal == .token { countRefusedToken("session.resume: the token is none of the client's") }
    if state == .closed { return }
    var hello = asked.open
    hello.refusal = refusal
    open(hello, request)
  }

  private func goOn(with found: ResumedClient, _ request: Request) {
    membership = (found.session, found.client)
    whenKept(found.session) { connection in
      connection.attach(found.session, found.client)
      connection.finish(request, .success(found.answer))
      found.session.assumeIsolated { ClientResume.goOn(found.client, in: $0) }
    }
  }

  /// Goes on when the store has what a session has told it; receives nothing until then. At once
  /// where it has.
  private func whenKept(
    _ session: Session, _ goOn: @escaping @Sendable (isolated Connection) -> Void
  ) {
    let mustWait = session.assumeIsolated { $0.journal?.barrier != nil }
    guard mustWait else { return goOn(self) }
    channel.pause()
    helloTimer?.cancel()
    session.assumeIsolated { session in
      session.journal?.whenKept { [self] in
        assumeIsolated { connection in
          guard connection.state != .closed else { return }
          connection.hub.meter.begin()
          goOn(connection)
          connection.channel.resume()
        }
      }
    }
  }

  /// What comes from now on goes to a session that a client has opened.
  private func attach(_ session: Session, _ client: ClientID) {
    pass(to: session, client)
    helloTimer?.cancel()
    state.opened()
  }

  private func pass(to session: Session, _ client: ClientID, isAnonymous: Bool = false) {
    channel.attach(
      SessionConnection(
        connection: self, channel: channel, decoder: decoder, inbox: hub.inbox, turns: hub.turns,
        session: session, client: client, isAnonymous: isAnonymous, tenure: hub.tenure))
  }

  private func joinAnonymously(
    _ identity: Identity
  ) throws(CallError) -> (session: Session, client: ClientID) {
    let session = try makeSession(of: identity)
    let newcomer = JoiningClient(identity, handshake)
    let client = try on(session) { [channel] session throws(CallError) in
      let client = try session.makeClient(newcomer, channel: channel)
      session.add(client)
      return client.id
    }
    join(session, client, isNew: true)
    pass(to: session, client, isAnonymous: true)
    return (session, client)
  }

  private func makeSession(
    of identity: Identity, isKept: Bool = false
  ) throws(CallError) -> Session {
    let leaving = membership == nil ? 0 : 1
    return try hub.assumeIsolated { hub in
      Result { () throws(CallError) in
        try hub.makeSession(of: identity, leaving: leaving, isKept: isKept)
      }
    }.get()
  }

  /// This connection carries a member from now on.
  private func join(_ session: Session, _ client: ClientID, isNew: Bool) {
    leave(nil, connectionGoesOn: true)
    membership = (session, client)
    if isNew { hub.assumeIsolated { $0.add(session) } }
  }

  /// Works in a session, which is on the loop of this connection.
  private func on<Success: Sendable>(
    _ session: Session, _ work: @Sendable (isolated Session) throws(CallError) -> Success
  ) throws(CallError) -> Success {
    try session.assumeIsolated { session in
      Result { () throws(CallError) in try work(session) }
    }.get()
  }

  private func open(_ request: Request) {
    hub.meter.begin()
    do {
      let hello = try OpenRequest(request, limits: hub.limits)
      guard let join = hello.join else {
        // Where this server ends, another takes who comes.
        if hub.group.isAboutToEnd, !isRelayed, let other = hub.group.cluster?.successor {
          return relay(request, of: "", to: other)
        }
        return open(hello, request)
      }
      if let reason = hub.assumeIsolated({ $0.closedReason }) {
        return close((.drain, "\(reason): try another server"))
      }
      if hub.assumeIsolated({ $0.isReleased(join.session) }) {
        return close((.drain, "the session moves to another server"))
      }
      if let home = hub.group.hub(ofSession: join.session) {
        return self.join(hello, join, at: home, request)
      }
      find(join.session, request) { connection, _ in
        let home = connection.hub.group.hub(ofSession: join.session) ?? connection.hub
        connection.join(hello, join, at: home, request)
      }
    } catch {
      refuseHello(request, error)
    }
  }

  /// Goes to the loop of the session that is to be joined. Who has a session already, a plain
  /// client, leaves it only where the other takes it.
  private func join(
    _ hello: OpenRequest, _ join: OpenRequest.Join, at home: LoopSessions, _ request: Request
  ) {
    if home === hub { return open(hello, request) }
    guard membership != nil else { return move(to: home) { $0.open(hello, request) } }
    channel.pause()
    home.loop.execute { [self] in
      let refusal: CallError? = home.assumeIsolated { home in
        do throws(CallError) {
          _ = try home.session(join.session, joinToken: join.token)
          return nil
        } catch {
          return error
        }
      }
      hub.loop.execute { [self] in
        assumeIsolated { connection in
          guard connection.state != .closed else { return }
          connection.channel.resume()
          if let refusal { return connection.refuse(hello, request, refusal) }
          connection.leave(nil, connectionGoesOn: true)
          connection.move(to: home) { $0.open(hello, request) }
        }
      }
    }
  }

  /// Goes on, on the loop of another hub, as another connection there: a session and its clients
  /// are on one loop.
  private func move(
    to home: LoopSessions, _ goOn: @escaping @Sendable (isolated Connection) -> Void
  ) {
    helloTimer?.cancel()
    let isMoving = channel.move(to: home.loop) {
      [handshake, refusedTokens, began, isRelayed] channel in
      let connection = Connection(
        channel, handshake, hub: home, refusedTokens: refusedTokens, began: began,
        isRelayed: isRelayed)
      channel.attach(connection)
      connection.begin()
      connection.assumeIsolated { goOn($0) }
    }
    guard !isMoving else { return }
    close(
      isRelayed
        ? (.drain, "the session is on another loop now: try again")
        : (.overloaded, "The server is ending"))
  }

  private func open(_ hello: OpenRequest, _ request: Request) {
    var handshake = handshake
    handshake.token = hello.token ?? handshake.token
    // Who joins without a token of its own is who the session's first client is.
    guard hello.join == nil || handshake.token != nil else { return open(hello, request, nil) }
    identify(handshake) { connection, identity in
      do throws(CallError) {
        connection.open(hello, request, try identity.get())
      } catch {
        connection.refuse(hello, request, error)
      }
    }
  }

  private func open(_ hello: OpenRequest, _ request: Request, _ identity: Identity?) {
    do throws(CallError) {
      let (session, client, welcome) = try open(hello, identity)
      whenKept(session) { connection in
        connection.attach(session, client)
        connection.finish(request, .success(welcome))
        if !hello.hosts.isEmpty {
          session.assumeIsolated { DeepLinkRunner.hostsChanged(in: $0) }
        }
      }
    } catch {
      refuse(hello, request, error)
    }
  }

  private func refuse(_ hello: OpenRequest, _ request: Request, _ error: CallError) {
    finish(request, .failure(error))
    switch error.protocolCode {
    case .unavailable: close((.overloaded, error.message))
    case .notAuthenticated: tokenRefused(error.message, joins: hello.join != nil)
    default: break
    }
    awaitHello()
  }

  /// Tokens cannot be tried without end.
  private func tokenRefused(_ reason: String, joins: Bool) {
    hub.refusedTokens.add(joins: joins)
    countRefusedToken(
      reason,
      remedy: joins ? "the session's joinToken, or an invitation that is still good" : nil)
  }

  private func countRefusedToken(_ reason: String, remedy: String? = nil) {
    hub.group.refusals.add(
      .token, ErrorCode.notAuthenticated.rawValue, reason, address: handshake.address,
      remedy: remedy)
    hub.configuration.observer.tokenRefused(reason)
    refusedTokens += 1
    if refusedTokens >= RefusedTokens.maxInConnection {
      close((.tooMany, "\(refusedTokens) tokens were refused"))
    }
  }

  /// Joins the session that a client asks for, or a new one, and gives what it is answered. Fails
  /// with nothing changed.
  private func open(
    _ hello: OpenRequest, _ identity: Identity?
  ) throws(CallError) -> (session: Session, client: ClientID, welcome: Value) {
    let session: Session
    var invitation: Invitation?
    if let join = hello.join {
      (session, invitation) = try hub.assumeIsolated { hub in
        Result { () throws(CallError) in try hub.session(join.session, joinToken: join.token) }
      }.get()
    } else {
      session = try makeSession(of: identity ?? Identity(), isKept: true)
    }
    let (client, welcome): (ClientID, Value) = try on(session) {
      [channel, handshake, invitation] session throws(CallError) in
      var newcomer = JoiningClient(identity ?? session.identity, handshake)
      newcomer.software = hello.software
      newcomer.page = hello.page
      if let invitation { try newcomer.take(invitation, of: session.identity) }
      let client = try session.add(newcomer, hello.hosts, on: channel)
      var welcome = session.welcome(client)
      if let refusal = hello.refusal {
        welcome["resumed"] = false
        welcome["reason"] = .string(refusal.rawValue)
      }
      return (client.id, .object(welcome))
    }
    join(session, client, isNew: hello.join == nil)
    return (session, client, welcome)
  }

  private func refuseHello(_ request: Request, _ error: CallError) {
    finish(request, .failure(error))
    if error.code == ErrorCode.invalidParams.rawValue, error.data?["kind"] == "version" {
      close((.version, error.message))
    }
  }

  private func refuse(_ request: Request, _ refusal: ConnectionState.Action) {
    hub.meter.begin()
    write(refusal, to: request)
    writer.use { channel.send($0, as: .text) }
    // A connection without a session takes one message in a turn.
    channel.letOthersGoFirst()
  }

  /// Writes what is answered outside of a session.
  private func write(
    _ refusal: ConnectionState.Action, to request: Request, inBatch: Bool = false,
    limit: Int = .max
  ) {
    if refusal == .discover {
      record(request, nil)
      writer.response(request.id, written: OpenRPC.text, inBatch: inBatch, limit: limit)
      return
    }
    let error =
      refusal == .refuseInBatch
      ? CallError(.invalidRequest, "\(request.method) must not stand in a batch")
      : CallError(.sessionNotOpen, "Send session.open first")
    record(request, error)
    writer.error(request.id, error, inBatch: inBatch)
  }

  /// Answers every request of a batch that cannot go to a session.
  private func refuseBatch(_ messages: [Message]) {
    let reply = BatchReply(messages)
    for (position, message) in messages.enumerated() {
      switch message {
      case .notification, .response: continue
      case .invalid(let id, let error): writer.error(id, error, inBatch: true)
      case .request(let request):
        let action = state.received(request.method, inBatch: true)
        hub.meter.begin()
        write(
          action == .forward ? .refuseInBatch : action, to: request, inBatch: true,
          limit: hub.limits.maxAnswer - reply.size)
      }
      if reply.answer(position, with: writer.bytes), let whole = reply.whole {
        channel.send(whole.span.bytes, as: .text)
      }
    }
    channel.letOthersGoFirst()
  }

  private func finish(_ request: Request, _ result: Result<Value, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    record(request, error)
    send(request.id, result)
    if error != nil { channel.letOthersGoFirst() }
  }

  private func send(_ id: RequestID, _ result: Result<Value, CallError>) {
    writer.answer(id, result)
    writer.use { channel.send($0, as: .text) }
  }

  private func record(_ request: Request, _ error: CallError?) {
    let place = hub.meter.place(hub.inbox.methods.find(request.method)?.place)
    hub.meter.ended(place, code: error?.code)
  }
}

extension Session {
  /// Adds the member that a hello describes. Fails when the session is full, the page is not on its
  /// stack, or a host is wrong; then nothing has changed.
  fileprivate func add(
    _ newcomer: JoiningClient, _ hosts: [HostDefinition], on channel: any MessageChannel
  ) throws(CallError) -> Client {
    let client = try makeClient(newcomer, channel: channel)
    if let page = newcomer.page, !pages.isExpected(page) {
      throw .notOnStack("params.page: there is no page \(page.quoted) in the session")
    }
    try HostMethods.declare(hosts, by: client, in: self)
    if let invitation = newcomer.invitation {
      invitations.use(invitation)
      journal?.note(RecordKey.invitations)
    }
    add(client)
    return client
  }
}

import WayRPC
import WayTransport
import WayValues

/// One socket: it decodes what comes, opens a session on it, and hands everything else to that
/// session.
actor Connection: MessageReceiver {
  private nonisolated let channel: any MessageChannel
  private nonisolated let hub: SessionHub
  private nonisolated let executor: UnownedSerialExecutor
  private let decoder: MessageDecoder
  private var state: ConnectionState
  private var membership: (session: Session, client: ClientID)?
  private var refusedTokens = 0
  private var helloTimer: (any ScheduledWork)?
  private var writer = MessageWriter()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ channel: any MessageChannel, hub: SessionHub, isPlain: Bool) {
    self.channel = channel
    self.hub = hub
    executor = channel.loop.asUnownedSerialExecutor()
    let limits = hub.limits
    decoder = MessageDecoder(
      maxBatch: limits.maxBatch, maxDepth: limits.maxDepth, maxValues: limits.maxValues)
    state = isPlain ? .anonymous : .awaitingHello
  }

  /// Starts the time in which `session.open` must come. Call once, on the loop.
  nonisolated func begin() {
    assumeIsolated { connection in
      guard connection.state == .awaitingHello else { return }
      connection.helloTimer = connection.channel.loop.schedule(
        after: connection.hub.limits.hello
      ) { [weak connection] in
        connection?.assumeIsolated { $0.helloTimedOut() }
      }
    }
  }

  nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { connection in
      guard kind == .text else { return connection.close(OpenConnection.binaryRefusal) }
      let hub = connection.hub
      if hub.turns.isPutOff(message, hub.meter) {
        hub.turns.putOff(message, on: connection.channel) { [connection] in connection.take($0) }
      } else {
        connection.take(message)
      }
    }
  }

  private nonisolated func take(_ message: RawSpan) {
    assumeIsolated { connection in
      connection.hub.meter.begin()
      connection.handle(connection.decoder.decode(message))
    }
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
    session.assumeIsolated {
      $0.remove(client, code: code, connectionGoesOn: connectionGoesOn)
    }
  }
}

extension Connection {
  private func handle(_ incoming: Incoming) {
    switch incoming {
    case .message(.request(let request)):
      switch state.received(request.method, inBatch: false) {
      case .forward: forward(incoming)
      case .openSession: open(request)
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
  private func take(_ incoming: Incoming) {
    switch (state, incoming) {
    case (.closed, _): break
    case (.awaitingHello, .malformed(let error)): send(.null, .failure(error))
    case (.awaitingHello, .message(.invalid(let id, let error))): send(id, .failure(error))
    case (.awaitingHello, .batch(let messages)): refuseBatch(messages)
    case (.awaitingHello, .message): break
    case (.anonymous, _), (.open, _): forward(incoming)
    }
  }

  private func forward(_ incoming: Incoming) {
    guard let (session, client) = joined() else { return }
    session.assumeIsolated { hub.inbox.take(incoming, from: client, in: $0) }
  }

  /// The membership of this connection; a plain connection gets its anonymous session with its
  /// first message, or is closed where the app takes nobody without a token, or the server nobody
  /// more.
  private func joined() -> (session: Session, client: ClientID)? {
    if let membership { return membership }
    do throws(CallError) {
      let identity = try hub.configuration.identity(of: nil)
      let session = try makeSession()
      let client = try on(session) { [channel] session throws(CallError) in
        let client = try session.members.makeClient(channel: channel)
        session.add(client)
        return client.id
      }
      join(session, client, identity)
      return membership
    } catch {
      if error.protocolCode == .unavailable {
        close((.overloaded, error.message))
      } else {
        close((.notAuthenticated, "Send session.open first: \(error.message)"))
      }
      return nil
    }
  }

  private func makeSession() throws(CallError) -> Session {
    let leaving = membership == nil ? 0 : 1
    return try hub.assumeIsolated { hub in
      Result { () throws(CallError) in try hub.makeSession(leaving: leaving) }
    }.get()
  }

  /// This connection carries a member from now on; the session is a new one where there is an
  /// identity.
  private func join(_ session: Session, _ client: ClientID, _ identity: Identity?) {
    leave(nil, connectionGoesOn: true)
    membership = (session, client)
    if let identity { hub.assumeIsolated { $0.add(session, identity) } }
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
    let hello: Hello
    do {
      hello = try Hello(request, limits: hub.limits)
    } catch {
      return refuseHello(request, error)
    }
    do throws(CallError) {
      finish(request, .success(try open(hello)))
    } catch {
      finish(request, .failure(error))
      switch error.protocolCode {
      case .unavailable: close((.overloaded, error.message))
      case .notAuthenticated: tokenRefused(error.message, joins: hello.join != nil)
      default: break
      }
    }
  }

  /// Tokens cannot be tried without end.
  private func tokenRefused(_ reason: String, joins: Bool) {
    hub.refusedTokens.add(joins: joins)
    hub.configuration.observer.tokenRefused(reason)
    refusedTokens += 1
    if refusedTokens >= RefusedTokens.maxInConnection {
      close((.tooMany, "\(refusedTokens) tokens were refused"))
    }
  }

  /// Joins the session that a client asks for, or a new one, and gives what it is answered. Fails
  /// with nothing changed.
  private func open(_ hello: Hello) throws(CallError) -> Value {
    let session: Session
    var identity: Identity?
    if let join = hello.join {
      session = try hub.assumeIsolated { hub in
        Result { () throws(CallError) in try hub.session(join.session, joinToken: join.token) }
      }.get()
    } else {
      identity = try hub.configuration.identity(of: hello.token)
      session = try makeSession()
    }
    let loaded = hub.configuration.tableVersion
    let (client, welcome) = try on(session) { [channel] session throws(CallError) in
      let client = try session.add(hello, on: channel)
      let version = session.guide.snapshot.tableVersion ?? loaded
      return (client.id, session.welcome(client, version))
    }
    join(session, client, identity)
    channel.attach(
      OpenConnection(
        connection: self, channel: channel, decoder: decoder, inbox: hub.inbox, turns: hub.turns,
        session: session, client: client))
    helloTimer?.cancel()
    state.opened()
    if !hello.hosts.isEmpty { session.assumeIsolated { LinkFollowing.hostsChanged(in: $0) } }
    return welcome
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
    channel.send(writer.bytes.span.bytes, as: .text)
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
      ? CallError(.invalidRequest, "session.open must not stand in a batch")
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
      if let whole = reply.answer(position, with: writer.bytes) {
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
    channel.send(writer.bytes.span.bytes, as: .text)
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
    _ hello: Hello, on channel: any MessageChannel
  ) throws(CallError) -> Client {
    let client = try members.makeClient(
      page: hello.page, software: hello.software, channel: channel)
    if let page = hello.page, pages.stack.contains(.page(page)) == nil {
      throw .notOnStack("params.page: there is no page \(page.quoted) in the session")
    }
    try guide.hosts.register(hello.hosts, for: client, router: guide.snapshot)
    add(client)
    return client
  }

  /// What `session.open` answers.
  fileprivate func welcome(_ client: Client, _ tableVersion: String) -> Value {
    [
      "session": .string(id), "client": .string(client.name), "token": .string(client.token),
      "joinToken": .string(joinToken), "epoch": .string(epoch),
      "protocol": .string(ServerSoftware.protocolVersion),
      "server": [
        "name": .string(ServerSoftware.name),
        "version": .string(ServerSoftware.version),
      ],
      "limits": limits.value, "table": ["version": .string(tableVersion)],
      "capabilities": [],
    ]
  }
}

import WayRPC
import WayTransport
import WayValues

/// One socket: it decodes what comes, opens a session on it, and hands everything else to that session.
actor Connection: MessageReceiver {
  private nonisolated let channel: any MessageChannel
  private nonisolated let bridge: Bridge
  private nonisolated let executor: UnownedSerialExecutor
  private let decoder: MessageDecoder
  private var state: ConnectionState
  private var membership: (session: Session, client: ClientID, name: String)?
  private var helloTimer: (any ScheduledWork)?
  private var writer = MessageWriter()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ channel: any MessageChannel, bridge: Bridge, isPlain: Bool) {
    self.channel = channel
    self.bridge = bridge
    executor = channel.loop.asUnownedSerialExecutor()
    let limits = bridge.settings.limits
    decoder = MessageDecoder(maxBatch: limits.maxBatch, maxDepth: limits.maxDepth)
    state = isPlain ? .anonymous : .awaitingHello
  }

  /// Starts the time in which `session.open` must come. Call once, on the loop.
  nonisolated func begin() {
    assumeIsolated { connection in
      guard connection.state == .awaitingHello else { return }
      connection.helloTimer = connection.channel.loop.schedule(
        after: connection.bridge.settings.limits.hello
      ) { [weak connection] in
        connection?.assumeIsolated { $0.helloTimedOut() }
      }
    }
  }

  nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { connection in
      guard kind == .text else { return connection.close(OpenConnection.binaryRefusal) }
      connection.handle(connection.decoder.decode(message))
    }
  }

  nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { $0.end(code) }
  }

  private func helloTimedOut() {
    guard state.helloTimedOut() else { return }
    close(
      (.noHello, "No session.open within \(bridge.settings.limits.hello.milliseconds) ms"))
  }

  /// Ends the connection; what still comes is not taken.
  private func close(_ end: (code: CloseCode, reason: String)) {
    state = .closed
    tell(.refused(code: end.code, reason: end.reason))
    channel.close(end.code, end.reason)
  }

  private func end(_ code: UInt16?) {
    state = .closed
    helloTimer?.cancel()
    leave(code)
  }

  private func leave(_ code: UInt16?, connectionGoesOn: Bool = false) {
    guard let (session, client, name) = membership else { return }
    membership = nil
    let hasEnded = session.assumeIsolated { session in
      session.removeClient(client, connectionGoesOn: connectionGoesOn)
      return session.hasEnded
    }
    tell(.clientLeft(session: session.id, client: name, code: code))
    guard hasEnded else { return }
    bridge.assumeIsolated { $0.remove(session.id) }
    tell(.sessionClosed(session: session.id))
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
    session.assumeIsolated { $0.receive(incoming, from: client) }
  }

  /// The membership of this connection; a plain connection gets its anonymous session with its first message, or is
  /// closed where the app takes nobody without a token, or the server nobody more.
  private func joined() -> (session: Session, client: ClientID)? {
    if let membership { return (membership.session, membership.client) }
    let session: Session
    do throws(RPCError) {
      session = try makeSession(token: nil)
    } catch {
      if error.code == ErrorCode.unavailable.rawValue {
        close((.overloaded, error.message))
      } else {
        close((.notAuthenticated, "Send session.open first: \(error.message)"))
      }
      return nil
    }
    let client = session.assumeIsolated { $0.addAnonymousClient(channel: channel) }
    join(session, client, isNew: true)
    return (session, client)
  }

  private func join(_ session: Session, _ client: ClientID, isNew: Bool, _ hello: Hello? = nil) {
    let name = session.assumeIsolated { $0.clients[client]?.name } ?? ""
    membership = (session, client, name)
    if isNew { tell(.sessionOpened(session: session.id)) }
    tell(
      .clientJoined(
        session: session.id, client: name, name: hello?.software["name"]?.string,
        version: hello?.software["version"]?.string))
  }

  private func tell(_ event: BridgeNotice) {
    bridge.settings.observer.tell(event)
  }

  private func makeSession(token: String?) throws(RPCError) -> Session {
    let identity = try bridge.settings.identity(of: token)
    let leaving = membership == nil ? 0 : 1
    return try bridge.assumeIsolated { bridge in
      Result { () throws(RPCError) in try bridge.makeSession(identity, leaving: leaving) }
    }.get()
  }

  private func open(_ request: Request) {
    bridge.meter.begin()
    let hello: Hello
    do {
      hello = try Hello(request, limits: bridge.settings.limits)
    } catch {
      return refuseHello(request, error)
    }
    do throws(RPCError) {
      let bridge = bridge
      let channel = channel
      let session: Session
      if let join = hello.join {
        session = try bridge.assumeIsolated { bridge in
          Result { () throws(RPCError) in
            try bridge.session(join.session, joinToken: join.token)
          }
        }.get()
      } else {
        session = try makeSession(token: hello.token)
      }
      let added = session.assumeIsolated { session in
        Result { () throws(RPCError) in
          try session.addClient(channel: channel, hello: hello)
        }
      }
      if case .failure = added, hello.join == nil {
        bridge.assumeIsolated { $0.remove(session.id) }
      }
      let (client, answer) = try added.get()
      leave(nil, connectionGoesOn: true)
      join(session, client, isNew: hello.join == nil, hello)
      channel.attach(
        OpenConnection(
          connection: self, channel: channel, decoder: decoder, session: session, client: client))
      helloTimer?.cancel()
      state.opened()
      finish(request, .success(answer))
    } catch {
      finish(request, .failure(error))
      if error.code == ErrorCode.unavailable.rawValue { close((.overloaded, error.message)) }
    }
  }

  private func refuseHello(_ request: Request, _ error: RPCError) {
    finish(request, .failure(error))
    if error.code == ErrorCode.invalidParams.rawValue, error.data?["kind"] == "version" {
      close((.version, error.message))
    }
  }

  private func refuse(_ request: Request, _ refusal: ConnectionState.Action) {
    bridge.meter.begin()
    finish(request, answer(to: refusal))
  }

  private func answer(to refusal: ConnectionState.Action) -> Result<Value, RPCError> {
    switch refusal {
    case .discover: .success(OpenRPC.document)
    case .refuseInBatch:
      .failure(RPCError(.invalidRequest, "session.open must not stand in a batch"))
    case .refuseNotOpen, .openSession, .forward, .ignore:
      .failure(RPCError(.sessionNotOpen, "Send session.open first"))
    }
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
        let result = answer(to: action == .forward ? .refuseInBatch : action)
        bridge.meter.begin()
        bridge.meter.ended(request.method, result)
        writer.answer(request.id, result, inBatch: true)
      }
      if let whole = reply.answer(position, with: writer.bytes) {
        channel.send(whole.span.bytes, as: .text)
      }
    }
  }

  private func finish(_ request: Request, _ result: Result<Value, RPCError>) {
    bridge.meter.ended(request.method, result)
    send(request.id, result)
  }

  private func send(_ id: RequestID, _ result: Result<Value, RPCError>) {
    writer.answer(id, result)
    channel.send(writer.bytes.span.bytes, as: .text)
  }
}

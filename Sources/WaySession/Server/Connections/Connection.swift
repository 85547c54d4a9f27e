import WayRPC
import WayTransport
import WayValues

/// One connection before it has a session: it decodes messages, performs what ``ClientAdmission``
/// decides, and forwards all other messages to the session of its client.
actor Connection: MessageReceiver {
  private nonisolated let accepted: AcceptedConnection
  private nonisolated let executor: UnownedSerialExecutor
  private var state: SessionAdmissionState
  private var membership: SessionMembership?
  private let identification: ConnectionIdentification
  private let rejections: ConnectionRejectionRecorder
  private var responder: ConnectionResponder
  private var openTimer: (any ScheduledWork)?
  private var admission: Task<Void, Never>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  private nonisolated var channel: any MessageChannel { accepted.channel }
  private nonisolated var loopSessions: LoopSessions { accepted.loopSessions }

  /// Creates a connection. `rejectedTokens` is how many tokens were rejected before it was moved to
  /// this loop.
  init(_ accepted: AcceptedConnection, rejectedTokens: Int = 0) {
    self.accepted = accepted
    identification = ConnectionIdentification(accepted, rejectedTokens: rejectedTokens)
    rejections = ConnectionRejectionRecorder(accepted)
    responder = ConnectionResponder(accepted)
    executor = accepted.channel.loop.asUnownedSerialExecutor()
    state = accepted.handshake.subprotocol == nil ? .anonymous : .awaitingOpen
  }

  /// Starts the timeout for the first message. Call once, on the loop.
  nonisolated func begin() { assumeIsolated { $0.startOpenTimer() } }

  private func startOpenTimer() {
    openTimer?.cancel()
    guard hasDeadline else { return }
    let limit = loopSessions.limits.hello
    openTimer = channel.loop.schedule(after: limit) { [weak self] in
      self?.assumeIsolated { connection in
        guard connection.hasDeadline else { return }
        connection.close(.noHello, "No session.open within \(limit.milliseconds) ms")
      }
    }
  }

  /// Whether the client has not begun yet, and must do so in time.
  private var hasDeadline: Bool {
    state.hasDeadline(identifies: loopSessions.authenticatesClients, hasSession: membership != nil)
  }

  nonisolated func receive(_ message: RawSpan, as kind: MessageKind) {
    assumeIsolated { connection in
      guard kind == .text else { return connection.close(.unsupportedData, CloseCode.notText) }
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
    handle(loopSessions.decoder.decode(message))
  }

  /// Handles a message that ``SessionConnection`` does not. Call on the loop.
  nonisolated func receive(unhandled incoming: FrameContent) {
    assumeIsolated { $0.handle(incoming) }
  }

  nonisolated func closed(_ code: UInt16?) {
    assumeIsolated { connection in
      connection.end()
      connection.membership.take()?.handleDisconnect(connection.channel, code: code)
    }
  }

  /// Closes the connection; messages that still arrive are ignored.
  private func close(_ code: CloseCode, _ reason: String) {
    end()
    rejections.recordClose(code, reason, of: eventClient)
    channel.close(code, reason)
  }

  private func end() {
    state = .closed
    stopWaiting()
  }

  private func stopWaiting() {
    openTimer?.cancel()
    admission?.cancel()
  }

  /// The client, as far as it is known.
  private var eventClient: EventClient {
    membership?.eventClient ?? EventClient(accepted.handshake, user: identification.user)
  }

  /// Leaves the session, and keeps the connection.
  private func leave() {
    membership.take()?.leave()
  }

  private func handle(_ incoming: FrameContent) {
    switch state.received(incoming) {
    case .forward: forward(incoming)
    case .admit(let request): admit(request)
    case .respond: responder.respond(to: incoming, in: state)
    case .ignore: break
    }
  }

  /// Forwards a message to the session. A plain connection gets its anonymous session with its
  /// first message. It is closed if the app requires a token, or the server accepts no more
  /// sessions.
  private func forward(_ incoming: FrameContent) {
    if let membership { return membership.receive(incoming, loopSessions.dispatcher) }
    stopWaiting()
    admission = Task.immediate {
      do throws(CallError) {
        let token = accepted.handshake.token
        guard let identity = try await identification.identify(token) else { return }
        let membership = try loopSessions.admitAnonymously(
          identity, accepted.handshake, channel)
        forwardAll(to: membership, isAnonymous: true)
        membership.receive(incoming, loopSessions.dispatcher)
      } catch {
        guard error.protocolCode != .unavailable else { return close(.overloaded, error.message) }
        close(.notAuthenticated, "Send session.open first: \(error.message)")
      }
    }
  }

  /// Makes this connection that of a client, and forwards all messages to its session.
  private func forwardAll(to membership: SessionMembership, isAnonymous: Bool = false) {
    self.membership = membership
    channel.admit()
    channel.attach(
      SessionConnection(of: membership, accepted, connection: self, isAnonymous: isAnonymous))
  }
}

// Admission.
extension Connection {
  private func admit(_ request: Request) {
    loopSessions.meter.begin()
    do throws(CallError) {
      admit(try ClientAdmissionRequest(request, on: accepted), isHere: false)
    } catch {
      respond(to: request, error)
      if error.data?["kind"] == "version" { close(.version, error.message) }
    }
  }

  /// Admits the client to a session. `isHere` if the session is known to be on this loop.
  private func admit(_ request: ClientAdmissionRequest, isHere: Bool) {
    stopWaiting()
    admission = Task.immediate {
      let admission = ClientAdmission(
        request: request, accepted: accepted, identification: identification,
        rejections: rejections, leavesSession: membership != nil)
      let outcome = isHere ? await admission.outcomeHere() : await admission.outcome()
      switch outcome {
      case .admitted(let admitted): attach(admitted, request.request)
      case .onLoop(let target): move(to: target, request)
      case .onServer(let server, let session):
        await relay(request.request, of: session, to: server)
      case .rejected(let error): reject(request, error)
      case .closed(let code, let reason): close(code, reason)
      case .abandoned: break
      }
    }
  }

  /// Responds to the client when the store has what the response tells; no messages are received
  /// until then.
  private func attach(_ admitted: AdmittedClient, _ request: Request) {
    leave()
    membership = admitted.membership
    admitted.membership.whenStored(pausing: channel) { [self] in
      assumeIsolated { connection in
        guard connection.state != .closed else { return }
        connection.loopSessions.meter.begin()
        connection.forwardAll(to: admitted.membership)
        connection.state.opened()
        connection.responder.respond(to: request, .success(admitted.response))
        admitted.performNextStep()
      }
    }
  }

  /// Moves the connection to another loop, where a new ``Connection`` continues: a session and its
  /// clients are on one loop.
  private func move(to target: LoopSessions, _ request: ClientAdmissionRequest) {
    leave()
    let rejectedTokens = identification.rejectedTokens
    let isMoving = channel.move(to: target.loop) { [accepted] channel in
      let accepted = accepted.moved(to: channel, on: target)
      let connection = Connection(accepted, rejectedTokens: rejectedTokens)
      channel.attach(connection)
      connection.assumeIsolated { $0.admit(request, isHere: true) }
    }
    guard !isMoving else { return }
    guard !accepted.isRelayed else {
      return close(.drain, "the session is on another event loop now; try again")
    }
    close(.overloaded, "The server is shutting down")
  }

  /// Relays the connection to the server that owns the session.
  private func relay(_ request: Request, of session: String, to server: String) async {
    guard let relay = ConnectionRelay(request, accepted) else {
      return close(.drain, "the session is on another server")
    }
    guard let identity = await accepted.pause(during: { await relay.identify() }) else { return }
    guard identification.mayRelay(identity) else {
      return close(.overloaded, CallError.reservedForAdministrators.message)
    }
    leave()
    state = .closed
    relay.begin(of: session, to: server, identity)
  }

  private func reject(_ request: ClientAdmissionRequest, _ error: CallError) {
    respond(to: request.request, error)
    switch error.protocolCode {
    case .unavailable: close(.overloaded, error.message)
    case .notAuthenticated:
      rejections.recordRejectedToken(
        error.message, joins: request.open.join != nil, of: eventClient)
      if let end = identification.countRejectedToken() { close(end.code, end.reason) }
    default: break
    }
    startOpenTimer()
  }

  private func respond(to request: Request, _ error: CallError) {
    responder.respond(to: request, .failure(error))
    if error.isRefusal { rejections.recordRefusal(error, of: request, by: eventClient) }
  }
}

import WayRPC
import WayValues

/// Receives messages of a session's clients: finds the method, performs it, and responds.
struct SessionRequestDispatcher: Sendable {
  let methods: MethodTable
  let meter: SessionCallMeter
  /// Decides whether calls are traced with their URIs.
  let inspector: Inspector

  /// Receives a frame of a client. `bytes` is its size, and `numbers` are the numbers of its
  /// messages.
  func receive(
    _ frame: borrowing FrameView, _ numbers: SequenceNumbers = .none, bytes: Int = 0,
    from id: ClientID,
    in session: isolated Session
  ) {
    guard let client = session.clients.sender(id) else { return }
    var isUnnumbered = false
    if client.link.isResumable {
      switch session.admit(frame, numbers, bytes: bytes, from: client) {
      case .accept, .stopNumbering: break
      case .acceptUnnumbered: isUnnumbered = true
      case .drop, .acknowledged, .close: return
      }
    }
    let start = meter.start
    switch frame {
    case .request(let request): dispatch(request, client, nil, 0, isUnnumbered, in: session)
    case .decoded(.message(let message)):
      dispatch(message, client, nil, 0, isUnnumbered, in: session)
    case .decoded(.malformed(let error)), .invalidUTF8(let error):
      session.clientWriter.sendError(error, to: client)
    case .decoded(.batch(let messages)):
      client.calls.batch = SessionBatchInProgress(messages, numbers)
      continueBatch(client, from: start, in: session)
    }
    if client.link.isResumable { session.acknowledge(client) }
    let isSpent = chargeTime(client, since: start)
    if isSpent || client.calls.batch != nil { yieldTurn(client, in: session) }
  }

  /// Charges the time for which a client has occupied the loop. Returns true if the other clients
  /// go first.
  private func chargeTime(_ client: Client, since start: UInt64) -> Bool {
    client.calls.fairShare.charge(from: start, to: meter.now(after: start), ofTurn: meter.turnStart)
  }

  /// Handles messages of a batch until its turn ends, at least one.
  private func continueBatch(_ client: Client, from start: UInt64, in session: isolated Session) {
    while let (message, position) = client.calls.batch?.next(),
      let response = client.calls.batch?.response
    {
      // A notification in the batch may have closed the client's session. The following messages
      // have no client to act for then.
      guard session.clients[client.id] != nil else { break }
      dispatch(message, client, response, position, false, in: session)
      // The time is charged when all messages of this turn are handled.
      var turn = client.calls.fairShare
      let isSpent = turn.charge(from: start, to: meter.now(after: start), ofTurn: meter.turnStart)
      if isSpent, client.calls.batch?.isFinished == false { return }
    }
    if client.calls.endBatch() { session.removeLater(client.id) }
  }

  /// Pauses a client until the other clients get their turn.
  private func yieldTurn(_ client: Client, in session: isolated Session) {
    if client.calls.batch == nil, client.calls.fairShare.isWithinQuantum {
      // The client arrived late in a turn that others have used up, so that it does not have to
      // queue behind them.
      client.channel?.pauseForOneTurn()
      return
    }
    let channel = client.channel
    channel?.pause()
    session.environment.scheduler.enqueue(cost: client.calls.fairShare.used) {
      [weak session, id = client.id] in
      guard let session else {
        channel?.resume()
        return
      }
      session.assumeIsolated { session in
        meter.begin()
        if let client = session.clients[id], client.calls.batch != nil {
          let start = meter.start
          continueBatch(client, from: start, in: session)
          _ = chargeTime(client, since: start)
          if client.calls.batch != nil { return yieldTurn(client, in: session) }
        }
        channel?.resume()
        // A batch continues when its connection is lost, and other messages of the client follow
        // it.
        if let now = session.clients[id]?.channel, now !== channel { now.resume() }
      }
    }
  }

  private func dispatch(
    _ message: Message, _ client: Client, _ batch: SessionBatchResponse?, _ position: Int,
    _ isUnnumbered: Bool,
    in session: isolated Session
  ) {
    switch message {
    case .request(let request):
      dispatch(RPCRequestView(request), client, batch, position, isUnnumbered, in: session)
    case .notification(let notification):
      dispatch(RPCRequestView(notification), client, batch, position, isUnnumbered, in: session)
    case .response(let response):
      session.complete(response, from: client)
      // An unreadable batch has only responses, and gets one error as a whole.
      if position == 0, response.isUnreadable, case .failure(let error) = response.result {
        session.clientWriter.sendError(error, to: client)
      }
    case .invalid(let id, let error):
      meter.begin()
      client.trace = nil
      let handle = ReplyHandle(
        client: client, id: id, batch: batch, position: position, method: meter.other,
        isNotification: false)
      session.respond(error, to: handle)
    }
  }

  private func dispatch(
    _ request: RPCRequestView, _ client: Client, _ batch: SessionBatchResponse?, _ position: Int,
    _ isUnnumbered: Bool, mayHold: Bool = true, in session: isolated Session
  ) {
    if let id = request.id {
      perform(
        request, id, client, batch, position, isNotification: false, isUnnumbered: isUnnumbered,
        mayHold: mayHold, in: session)
    } else if let notification = ProtocolNotifications.find(request) {
      // Errors are not reported for notifications.
      guard
        let params = try? Params(
          request.params, of: notification.name, taking: notification.paramList)
      else {
        return
      }
      notification.handler(session, client, params)
    } else {
      // A method without an id is performed without a response (JSON-RPC 2.0 §4.1).
      perform(
        request, .null, client, nil, 0, isNotification: true, isUnnumbered: false, mayHold: false,
        in: session)
    }
  }

  /// Performs a request of a client again, at once.
  func retry(
    _ request: Request, _ client: Client, _ batch: SessionBatchResponse?, _ position: Int,
    in session: isolated Session
  ) {
    dispatch(
      RPCRequestView(request), client, batch, position, false, mayHold: false, in: session)
  }

  private func perform(
    _ request: RPCRequestView, _ id: RequestID, _ client: Client, _ batch: SessionBatchResponse?,
    _ position: Int, isNotification: Bool, isUnnumbered: Bool, mayHold: Bool,
    in session: isolated Session
  ) {
    meter.begin()
    if inspector.tracesCalls {
      client.trace = CallTrace(request, at: meter.start, keepsParams: inspector.isActive)
    } else if client.trace != nil {
      client.trace = nil
    }
    let found = methods.find(request)
    let handle = ReplyHandle(
      client: client, id: id, batch: batch, position: position,
      method: meter.methodIndex(found?.place),
      isNotification: isNotification, isUnnumbered: isUnnumbered)
    var isHandled = false
    do throws(CallError) {
      try client.calls.chargeRate(at: meter.start)
      if !isNotification { try client.calls.check(id) }
      if let batch, batch.isFull {
        throw CallError(
          .tooLarge, "The responses of the batch are too large; this request was not carried out",
          data: ["limit": .integer(Int64(session.limits.maxAnswer))])
      }
      guard let (place, method) = found else {
        throw CallError(
          .methodNotFound,
          "There is no method \(request.method.quoted); rpc.discover lists the methods")
      }
      try client.rights.authorize(method.name, method.kind, at: place)
      if client.link.persistence.isReplayUncertain,
        !SessionReplayCheck.allows(method, request.params.value)
      {
        // Its client already has the response, and has therefore removed the id.
        if isNotification { return }
        throw .lostAtRestart
      }
      if client.calls.holdsRequests, mayHold, method.isOrdered, !isNotification,
        request.params.value?["key"] == nil
      {
        let held = Request(id: id, method: request.method, params: request.params.value)
        return try hold(held, handle, in: session)
      }
      let disposition: CallDisposition
      if let rawMethod = method.raw {
        disposition = .value(try rawMethod(request.params.value))
      } else {
        // A method that the connection handles is rejected here, whatever its params.
        let paramList = method.access == .connection ? .unread : method.paramList
        let params = try Params(request.params, of: method.name, taking: paramList)
        isHandled = true
        disposition = try method.handler(session, params, handle)
      }
      switch disposition {
      case .later: break
      case .now(let response): session.respond(response, to: handle)
      case .failed(let error): session.respond(error, to: handle)
      }
    } catch {
      session.reportFailure(error, of: request, by: handle.caller)
      if !isHandled, let method = found?.method, method.audit != nil {
        method.recordFailure(error, about: Self.target(of: request), by: handle, in: session)
      }
      session.respond(error, to: handle, about: Self.target(of: request))
    }
  }

  private static let targetNames = RPCParamsView.MemberNames(["uri", "to", "before", "page"])

  /// Returns the URI, or else the reference of a page, in the params of a request.
  private static func target(of request: RPCRequestView) -> String? {
    request.params.firstString(of: targetNames, maxBytes: AuditRecord.maxTextBytes)
  }

  /// Performs a request after the calls with an idempotency key that its client has sent before, and
  /// that start as soon as they are stored.
  private func hold(
    _ request: Request, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) {
    let number = try session.beginCall(.request(handle), size: request.params?.size ?? 0).number
    let client = handle.client
    client.calls.holdRequests()
    session.journal?.whenStored { [weak session] in
      client.calls.releaseRequests()
      session?.assumeIsolated { session in
        // The call may have been cancelled.
        guard let handle = session.removeHeldCall(number) else { return }
        retry(request, handle.client, handle.batch, handle.position, in: session)
      }
    }
  }
}

/// Checks messages that the server may have performed already before it was restarted.
enum SessionReplayCheck {
  /// Methods that change nothing, or that have the same effect when they are repeated.
  private static let idempotentMethods: Set<String> = [
    "router.canOpen", "router.explain", "router.routes", "navigation.stack", "navigation.contains",
    "host.register", "events.subscribe", "session.renew", "page.sync", "session.close",
    "session.clients", "table.get", "table.check", "session.list", "rpc.discover", "$/ping",
    "admin.watch", "admin.unwatch",
    "admin.sessions", "admin.session", "admin.routes", "admin.refusals", "admin.versions",
    "admin.explain",
  ]

  /// Whether a message may be performed again. A request with an idempotency key is performed only
  /// once in any case.
  static func allows(_ method: SessionMethod, _ params: Value?) -> Bool {
    if idempotentMethods.contains(method.name) { return true }
    let acceptsKey = method.paramList.params.contains { $0.name == .key }
    return acceptsKey && params?["key"]?.string != nil
  }
}

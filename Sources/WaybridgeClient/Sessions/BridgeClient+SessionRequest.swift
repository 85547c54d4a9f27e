import WayRPC
import WayValues

// The first request on each connection, and the handling of its response.
extension BridgeClient {
  func sendSessionRequest() {
    guard let options else {
      connection.sessionOpened(isResumable: false)
      return finishOpening()
    }
    let openParams = options.openParams(hosts: hosts)
    if let session, let position = connection.resumePosition() {
      connection.requestUnnumbered(
        "session.resume", session.resumeParams(after: position, openParams)
      ) {
        [weak self] in
        self?.handleSessionResponse($0)
      }
    } else {
      connection.requestUnnumbered("session.open", openParams) { [weak self] in
        self?.handleSessionResponse($0)
      }
    }
  }

  private nonisolated func handleSessionResponse(_ result: Result<Value, CallError>) {
    assumeIsolated { client in
      switch result {
      case .failure(let error): client.connection.sessionRejected(error)
      case .success(let response):
        guard let session = SessionDescription(response) else {
          return client.connection.sessionRejected(.malformedResponse("session.open", response))
        }
        if response["resumed"] == true {
          client.resumeSession(with: session, response)
        } else if let lost = client.session {
          client.replaceSession(with: session, after: lost, response["reason"]?.string ?? "gap")
        } else {
          client.startSession(session)
          client.finishOpening()
        }
      }
    }
  }

  private func finishOpening() {
    stateStreams.publish(.open)
    openContinuation?.resume(returning: .success(()))
    openContinuation = nil
  }

  private func startSession(_ session: SessionDescription) {
    setSession(session)
    let wantsResume = options?.reconnect != .never
    connection.sessionOpened(
      isResumable: wantsResume && session.capabilities.contains("resume"),
      pingTiming: session.pingTiming)
  }

  private func setSession(_ session: SessionDescription) {
    self.session = session
    ownPage = session.page ?? ownPage
    maxMessage = session.limits["maxMessage"]?.integer.flatMap { Int(exactly: $0) } ?? .max
    let maxDepth = session.limits["maxDepth"]?.integer.flatMap { Int(exactly: $0) }
    self.maxDepth = min(maxDepth ?? JSON.maxDepth, JSON.maxDepth)
  }

  /// Resumes the session: sends the messages again that the server has not received, then the
  /// buffered ones.
  private func resumeSession(with session: SessionDescription, _ response: Value) {
    let position = response["received"]?.integer.flatMap(UInt64.init(exactly:))
    if let position { replaceUnreadableMessage(after: position) }
    guard
      let received = position,
      connection.resumeSession(
        after: received, pingTiming: session.pingTiming,
        numbered: { pendingCalls[$0]?.markSent($1) })
    else {
      // The sequence numbers of the server and this client differ: the session cannot be resumed.
      connection.disableResume()
      return connection.drop(.gap, "the server counts messages differently")
    }
    setSession(session)
    // Acknowledges, so that the server knows that the new token has arrived.
    connection.sendAck()
    stateStreams.publish(.resumed)
    settleLostCalls(response, received)
    resendUnnumberedRequests()
    if response["restarted"] == true { syncPages() }
  }

  /// Replaces the message that the server could not read, the first one after `received`, so that it
  /// is not sent again. A request fails with the server's error.
  private func replaceUnreadableMessage(after received: UInt64) {
    guard let error = unreadableMessageError else { return }
    unreadableMessageError = nil
    let number = received &+ 1
    let request = pendingCalls.all { $1.sequenceNumber == number }.first
    guard connection.replaceUnreadableMessage(number, request: request?.id), let request else {
      return
    }
    pendingCalls.remove(request.id)?.settle(.failure(error))
  }

  /// Settles calls that the server received and no longer knows: they are not running, and their
  /// responses are not sent again. Responses that are sent again have arrived once a later ping is
  /// answered.
  private func settleLostCalls(_ response: Value, _ received: UInt64) {
    let known = Set(
      (response["pending"]?.array ?? []).compactMap { $0["id"].flatMap(RequestID.init) })
    let lost = pendingCalls.all { id, call in
      !known.contains(id) && call.sequenceNumber.map { $0 <= received } == true
    }
    guard !lost.isEmpty else { return }
    let ids = lost.map(\.id)
    connection.requestUnnumbered("$/ping") { [weak self] _ in
      self?.assumeIsolated { client in
        for id in ids { client.pendingCalls.remove(id)?.fail() }
      }
    }
  }

  /// Handles a new session that replaced a lost one.
  private func replaceSession(
    with session: SessionDescription, after lost: SessionDescription, _ reason: String
  ) {
    let waiting = connection.removeUnsent()
    unreadableMessageError = nil
    hostKeys.detachRunningWork()
    for call in serverRequests.drain() { call.cancel() }
    let pages = closeHostedPages()
    cancelPageSync()
    startSession(session)
    resubscribe()
    var calls: [LostCall] = []
    for (id, call) in pendingCalls.all() where call.isSent && !call.isUnnumbered {
      if let message = call.repeatableMessage, !call.isCancelled {
        send(message, of: call, id)
      } else {
        _ = pendingCalls.remove(id)
        calls.append(LostCall(method: call.method, uri: call.uri))
        call.fail()
      }
    }
    for (message, tag) in waiting {
      switch tag {
      case .progress, .sessionBound: break
      case .none: connection.send(message)
      case .request(let id):
        if let call = pendingCalls[id] { send(message, of: call, id) }
      }
    }
    resendUnnumberedRequests()
    stateStreams.publish(
      .sessionReplaced(LostSession(reason: reason, session: lost, calls: calls, pages: pages)))
  }

  private func resubscribe() {
    let topics = eventStreams.topics
    guard !topics.isEmpty else { return }
    let params: Value = ["topics": .array(topics.map(Value.string))]
    let call = BridgeClientCall("events.subscribe", params)
    call.completion = { [weak self] result in
      guard case .failure(let error) = result else { return }
      self?.assumeIsolated { $0.eventStreams.end(error) }
    }
    do throws(CallError) {
      try submit(call, try pendingCalls.add(call), params)
    } catch {
      eventStreams.end(error)
    }
  }

  /// Sends the unnumbered requests again that had no response over the previous connection.
  private func resendUnnumberedRequests() {
    for (id, call) in pendingCalls.all(where: { $1.isUnnumbered }) { requestUnnumbered(call, id) }
  }
}

extension BridgeClientCall {
  /// Fails the call; it is not known whether it ran.
  fileprivate func fail() {
    settle(
      .failure(
        CallError(
          .outcomeUnknown, "The session was lost before \(method) was answered", kind: "sessionLost"
        )))
  }
}

extension BridgeClient.SessionDescription {
  /// The params of `session.resume`. `open` are the params of `session.open`, for a session that
  /// replaces this one.
  fileprivate func resumeParams(after position: ClientMessageStream.StreamPosition, _ open: Value)
    -> Value
  {
    [
      "client": .string(client), "token": .string(token), "epoch": .string(epoch),
      "received": .integer(Int64(clamping: position.received)),
      "sent": .integer(Int64(clamping: position.sent)), "open": open,
    ]
  }

  /// How long the server may be silent. Its WebSocket pings, which are not visible here, use the
  /// same times.
  fileprivate var pingTiming: PingTiming {
    guard let ping = limits["pingMs"]?.integer, let silence = limits["silenceMs"]?.integer else {
      return PingTiming()
    }
    return PingTiming(interval: ping, timeout: silence &- ping)
  }
}

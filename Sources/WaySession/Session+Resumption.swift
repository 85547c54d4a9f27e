import WayRPC
import WayRouting
import WayTransport
import WayValues

// Clients that have lost their connection, and clients that resume.
extension Session {
  /// Handles the end of a connection. Its client stays for a while if it may resume.
  func handleDisconnect(_ id: ClientID, _ channel: any MessageChannel, code: UInt16?) {
    // Another connection may already carry the client.
    guard let client = clients[id], client.channel === channel else { return }
    guard
      client.link.isResumable, !isOfRequest, code != CloseCode.normal.rawValue,
      !state.isEnding || isPersisted,
      !isOrphan(client)
    else { return remove(id, code: code) }
    client.link.disconnect(at: loop.nanoseconds)
    environment.resumableClients.connectionChanged(in: self)
    environment.serverHosts.update(client, isDisconnected: true)
    resolver.hosts.update(client.id, isAbsent: true)
    events.emit(.session, .disconnected(client: client.name, code: code), by: client.rights.caller)
    startResumeTimer(of: client)
    pages.markAbsent(client.name)
    moveRequestsOfAbsentHosts()
    perform([])
    openDeepLinksOfLostHost()
  }

  /// Whether a client is a guest whose page is gone, so that it cannot return to it.
  private func isOrphan(_ client: Client) -> Bool {
    guard client.rights.caller.isGuest, let page = client.page else { return false }
    return !pages.isExpected(page)
  }

  /// Removes the guests of a closed page that have no connection.
  func removeOrphans(of page: String) {
    for client in clients.all where client.isDisconnected && client.page == page {
      if isOrphan(client) { remove(client.id) }
    }
  }

  /// Starts the timer that removes a client without a connection. This includes clients that were
  /// restored when the server started.
  func startResumeTimer(of client: Client) {
    startResumeTimer(of: client, for: client.link.resumeTimeout(atMost: limits.resume))
  }

  private func startResumeTimer(of client: Client, for time: Duration) {
    // The time starts when the client can reconnect.
    guard !isFenced else { return }
    client.link.setResumeTimer(setTimer(time, .resume(client.id)))
  }

  /// Stops the resume timers while no client can reconnect.
  func pauseResumeTimers() {
    isFenced = true
    for client in clients.all { client.link.setResumeTimer(nil) }
  }

  /// Restarts the resume timers when clients can reconnect. Each disconnected client gets the full
  /// time again.
  func restartResumeTimers() {
    guard isFenced else { return }
    isFenced = false
    for client in clients.all where client.isDisconnected { startResumeTimer(of: client) }
  }

  /// Removes a client that has not resumed in time. While it has a running call with a later
  /// deadline, it may still resume.
  func resumeTimeEnded(of id: ClientID) {
    guard let client = clients[id], client.isDisconnected else { return }
    client.link.setResumeTimer(nil)
    if let left = timeUntilLastDeadline(of: client) {
      return startResumeTimer(of: client, for: left)
    }
    remove(id)
  }

  /// Removes a client without a connection for which more messages wait than the limits allow.
  func discard(_ id: ClientID) {
    guard let client = clients[id], client.isDisconnected else { return }
    events.emit(.session, .discarded(client: client.name), by: client.rights.caller)
    remove(id)
  }

  /// Resumes a client on another connection. Returns the number of the last message that the client
  /// has received. Returns a rejection if the client cannot resume; then nothing has changed. Throws
  /// 2401 or 2403 if the client is not allowed to.
  func resume(
    _ client: Client, _ attempt: ResumeAttempt
  ) throws(CallError) -> Result<UInt64, ResumeRejection> {
    let number: UInt64
    switch try attempt.resumePoint(of: client, epoch: epoch, at: environment.now()) {
    case .success(let point): number = point
    case .failure(let rejection): return .failure(rejection)
    }
    let claim = attempt.claim
    if let identity = attempt.identity(for: client) { try renew(client, as: identity) }
    client.link.redeem(claim.token)
    if let old = client.channel {
      client.link.disconnect(at: loop.nanoseconds)
      old.close(.takenOver, "Another connection has resumed the client")
    }
    if client.link.persistence.isRestored { reconcile(client, claim, upTo: number) }
    withdrawEndedRequests(to: client, after: number)
    client.link.connect(attempt.channel, since: attempt.openTime.upperBound, attempt.handshake)
    environment.resumableClients.connectionChanged(in: self)
    environment.serverHosts.update(client, isDisconnected: false)
    resolver.hosts.update(client.id, isAbsent: false)
    recordChange(client)
    clientWriter.resume(client, after: number)
    for (_, request) in client.pending.all() { recordHostRequest(request) }
    events.emit(.session, .reconnected(client: client.name), by: client.rights.caller)
    if claim.isReloaded { failLostRequests(client, upTo: number) }
    return .success(number)
  }

  /// Reconciles a restored client with the positions that it reports from before the server's
  /// restart.
  private func reconcile(_ client: Client, _ claim: ResumeClaim, upTo number: UInt64) {
    for id in client.link.reconcile(claim, upTo: number) {
      let handle = ReplyHandle(
        client: client, id: id, batch: nil, position: 0, method: environment.meter.other,
        isNotification: false)
      respond(.lostAtRestart, to: handle)
    }
    client.link.skipNumbers(to: number)
  }

  /// Removes the guest with this invitation token whose connection was lost longest ago.
  func removeDisconnectedGuest(withToken token: PresentedToken) {
    guard !invitations.isVoid(token, wall: environment.now()) else { return }
    let absent = clients.all.filter { client in
      guard client.isDisconnected, let invitation = client.rights.invitation else { return false }
      return token.matches(invitation.token)
    }
    if let first = absent.min(by: { $0.link.disconnectedAt < $1.link.disconnectedAt }) {
      remove(first.id)
    }
  }

  /// Completes a resume after the connection was informed that it carries the client. Sends the
  /// client the messages that it has not received, and accepts its messages.
  func completeResume(_ id: ClientID) {
    guard let client = clients[id] else { return }
    clientWriter.markResumed(client)
    // A batch that the client sent before is completed before its new messages.
    if client.calls.batch != nil { client.channel?.pause() }
    startOpeningTimeouts(at: client)
    moveRequestsOfAbsentHosts()
    offerDeepLinks()
  }

  /// Fails the requests that a reloaded client had received and can no longer respond to, and removes
  /// its guards.
  private func failLostRequests(_ client: Client, upTo number: UInt64) {
    pages.removeGuards(of: client.id)
    let lost = client.pending.remove { $0.sequenceNumber > 0 && $0.sequenceNumber <= number }
    for request in lost {
      request.settle()
      let error = CallError.hostReloaded(during: request)
      events.requestEnded(request, .failure(error), of: client)
      forwardResponse(request, .failure(.noResponse(error)))
    }
  }
}

extension CallError {
  /// The error of a call whose outcome the server no longer knows.
  static let lostAtRestart = CallError(
    .outcomeUnknown,
    "The server restarted; it is not known whether it had carried out the call")

  /// The error of a request that a client worked on when it was reloaded.
  fileprivate static func hostReloaded(during request: PendingRequest) -> CallError {
    if case .open = request.purpose {
      return CallError(.hostFailed, "The host reloaded before it answered")
    }
    return CallError(
      .outcomeUnknown, "The receiver of \(request.method) reloaded before it answered")
  }
}

extension Session: ResumableClients.ResumableSession {
  nonisolated var currentClients: [Client] { assumeIsolated { $0.clients.all } }

  nonisolated func discardClient(_ id: ClientID) {
    assumeIsolated { $0.discard(id) }
  }
}

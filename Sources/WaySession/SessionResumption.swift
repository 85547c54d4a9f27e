import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Handles clients that have lost their connection, and resumes them.
enum SessionResumption {
  /// Handles the end of a connection. Its client stays for a while if it may resume.
  static func handleDisconnect(
    _ id: ClientID, _ channel: any MessageChannel, code: UInt16?, in session: isolated Session
  ) {
    // Another connection may already carry the client.
    guard let client = session.clients[id], client.channel === channel else { return }
    guard
      client.link.isResumable, code != CloseCode.normal.rawValue,
      !session.state.isEnding || session.isPersisted, !isOrphan(client, in: session)
    else { return session.remove(id, code: code) }
    client.link.disconnect(at: session.loop.nanoseconds)
    session.environment.resumableClients.connectionChanged(in: session)
    session.environment.serverHosts.update(client, isDisconnected: true)
    session.resolver.hosts.update(client.id, isAbsent: true)
    session.events.emit(
      .session, .disconnected(client: client.name, code: code), by: client.rights.caller)
    startTimer(client, in: session)
    session.pages.markAbsent(client.name)
    session.moveRequestsOfAbsentHosts()
    session.perform([])
    session.openDeepLinksOfLostHost()
  }

  /// Whether a client is a guest whose page is gone, so that it cannot return to it.
  private static func isOrphan(_ client: Client, in session: isolated Session) -> Bool {
    guard client.rights.caller.isGuest, let page = client.page else { return false }
    return !session.pages.isExpected(page)
  }

  /// Removes the guests of a closed page that have no connection.
  static func handlePageClosed(_ page: String, in session: isolated Session) {
    for client in session.clients.all where client.isDisconnected && client.page == page {
      if isOrphan(client, in: session) { session.remove(client.id) }
    }
  }

  /// Starts the timer that removes a client without a connection. This includes clients that were
  /// restored when the server started.
  static func startTimer(_ client: Client, in session: isolated Session) {
    startTimer(client, for: client.link.resumeTimeout(atMost: session.limits.resume), in: session)
  }

  private static func startTimer(
    _ client: Client, for time: Duration, in session: isolated Session
  ) {
    // The time starts when the client can reconnect.
    guard !session.isFenced else { return }
    client.link.setResumeTimer(session.setTimer(time, .resume(client.id)))
  }

  /// Stops the resume timers while no client can reconnect.
  static func pauseTimers(in session: isolated Session) {
    session.isFenced = true
    for client in session.clients.all { client.link.setResumeTimer(nil) }
  }

  /// Restarts the resume timers when clients can reconnect. Each disconnected client gets the full
  /// time again.
  static func resumeTimers(in session: isolated Session) {
    guard session.isFenced else { return }
    session.isFenced = false
    for client in session.clients.all where client.isDisconnected {
      startTimer(client, in: session)
    }
  }

  /// Removes a client that has not resumed in time. While it has a running call with a later
  /// deadline, it may still resume.
  static func expire(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id], client.isDisconnected else { return }
    client.link.setResumeTimer(nil)
    if let left = session.timeUntilLastDeadline(of: client) {
      return startTimer(client, for: left, in: session)
    }
    session.remove(id)
  }

  /// Removes a client without a connection for which more messages wait than the limits allow.
  static func discard(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id], client.isDisconnected else { return }
    session.events.emit(.session, .discarded(client: client.name), by: client.rights.caller)
    session.remove(id)
  }

  /// Resumes a client on a connection that was opened at `began`. Returns the number of the last
  /// message that the client has received.
  ///
  /// `identity` is that of the token in the connection's handshake; `nil` if it has no token.
  ///
  /// Returns a rejection if the client cannot resume; then nothing has changed. Throws 2401 or 2403
  /// if the client is not allowed to.
  static func resume(
    _ client: Client, _ claim: ResumeClaim, _ identity: Identity?, _ handshake: Handshake,
    _ channel: any MessageChannel, since began: ClosedRange<UInt64>, in session: isolated Session
  ) throws(CallError) -> Result<UInt64, ResumeRejection> {
    guard client.link.isResumable else { return .failure(ResumeRejection(.unknown)) }
    guard claim.epoch == session.epoch else { return .failure(ResumeRejection(.epoch)) }
    let number: UInt64
    switch client.link.resumePoint(claim, over: channel, since: began.lowerBound) {
    case .success(let point): number = point
    case .failure(let rejection): return .failure(rejection)
    }
    guard handshake.origin == client.link.handshake.origin else {
      throw .forbidden("origin", "The client belongs to a page of another origin")
    }
    // The invitation defines a guest's rights, whatever token the guest shows.
    let identity = client.rights.invitation == nil ? identity : nil
    // Another user gets a new session.
    if let identity, !identity.hasUser(of: client.rights.caller.identity) {
      return .failure(ResumeRejection(.user))
    }
    if let identity {
      try SessionTokenExpiry.renew(client, as: identity, in: session)
    } else if client.rights.hasExpired(at: session.environment.now()) {
      throw CallError(
        .notAuthenticated,
        client.rights.invitation == nil
          ? "The token of the client has expired: send a new one"
          : "The token of the guest's inviter has expired")
    }
    client.link.redeem(claim.token)
    if let old = client.channel {
      client.link.disconnect(at: session.loop.nanoseconds)
      old.close(.takenOver, "Another connection has resumed the client")
    }
    if client.link.persistence.isRestored { reconcile(client, claim, upTo: number, in: session) }
    session.withdrawEndedRequests(to: client, after: number)
    client.link.connect(channel, since: began.upperBound, handshake)
    session.environment.resumableClients.connectionChanged(in: session)
    session.environment.serverHosts.update(client, isDisconnected: false)
    session.resolver.hosts.update(client.id, isAbsent: false)
    session.recordChange(client)
    session.clientWriter.resume(client, after: number)
    for (_, request) in client.pending.all() { session.recordHostRequest(request) }
    session.events.emit(.session, .reconnected(client: client.name), by: client.rights.caller)
    if claim.isReloaded { failLostRequests(client, upTo: number, in: session) }
    return .success(number)
  }

  /// Reconciles a restored client with the positions that it reports from before the server's
  /// restart.
  private static func reconcile(
    _ client: Client, _ claim: ResumeClaim, upTo number: UInt64, in session: isolated Session
  ) {
    for id in client.link.reconcile(claim, upTo: number) {
      let handle = ReplyHandle(
        client: client, id: id, batch: nil, position: 0, method: session.environment.meter.other,
        isNotification: false)
      session.respond(outcomeUnknown, to: handle)
    }
    client.link.skipNumbers(to: number)
  }

  /// The error of a call whose outcome the server no longer knows.
  static let outcomeUnknown = CallError(
    .outcomeUnknown,
    "The server restarted; it is not known whether it had carried out the call")

  /// Removes the guest with this invitation token whose connection was lost longest ago.
  static func removeDisconnectedGuest(withToken token: PresentedToken, in session: isolated Session)
  {
    guard !session.invitations.isVoid(token, wall: session.environment.now()) else { return }
    let absent = session.clients.all.filter { client in
      guard client.isDisconnected, let invitation = client.rights.invitation else { return false }
      return token.matches(invitation.token)
    }
    if let first = absent.min(by: { $0.link.disconnectedAt < $1.link.disconnectedAt }) {
      session.remove(first.id)
    }
  }

  /// Completes a resume after the connection was informed that it carries the client. Sends the
  /// client the messages that it has not received, and accepts its messages.
  static func completeResume(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id] else { return }
    session.clientWriter.markResumed(client)
    // A batch that the client sent before is completed before its new messages.
    if client.calls.batch != nil { client.channel?.pause() }
    session.startOpeningTimeouts(at: client)
    session.moveRequestsOfAbsentHosts()
    session.offerDeepLinks()
  }

  /// Fails the requests that a reloaded client had received and can no longer respond to.
  private static func failLostRequests(
    _ client: Client, upTo number: UInt64, in session: isolated Session
  ) {
    let lost = client.pending.remove { $0.sequenceNumber > 0 && $0.sequenceNumber <= number }
    for request in lost {
      request.settle()
      let error = CallError.hostReloaded(during: request)
      session.traceResult(request, .failure(error), of: client)
      session.forwardResponse(request, .failure(.noResponse(error)))
    }
  }
}

extension CallError {
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
    assumeIsolated { SessionResumption.discard(id, in: $0) }
  }
}

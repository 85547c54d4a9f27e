import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The admission of a client to a session: it locates the session, identifies the client, and
/// resumes it, or opens or joins a session. ``Connection`` performs what it decides. Confined to the
/// connection's loop.
struct ClientAdmission {
  let request: ClientAdmissionRequest
  let accepted: AcceptedConnection
  let identification: ConnectionIdentification
  let rejections: ConnectionRejectionRecorder
  /// Whether the client leaves a session when it has another one.
  let leavesSession: Bool

  private var handshake: Handshake { accepted.handshake }
  private var loopSessions: LoopSessions { accepted.loopSessions }
  private var sessionServer: SessionServer { accepted.loopSessions.sessionServer }

  /// Decides where the client is admitted, and admits it if that is here. No messages are received
  /// while it waits.
  nonisolated(nonsending) func outcome() async -> AdmissionOutcome {
    if request.claim == nil, let agent = request.open.agent, !accepted.isRelayed {
      return await outcome(of: agent)
    }
    return switch await locate() {
    case .here(let isNotFound): await outcomeHere(isNotFound: isNotFound)
    case .decided(let outcome): outcome
    }
  }

  /// Admits the client to a session of this loop. If `isNotFound`, no server has the session that it
  /// has asked for.
  nonisolated(nonsending) func outcomeHere(isNotFound: Bool = false) async -> AdmissionOutcome {
    do throws(CallError) {
      guard let claim = request.claim else { return try await open(request.open) }
      switch try await resume(claim, isNotFound: isNotFound) {
      case .decided(let outcome): return outcome
      case .opensNewSession(let reason):
        var open = request.open
        open.resumeRejection = reason
        return try await self.open(open)
      }
    } catch {
      return .rejected(error)
    }
  }
}

// Agents.
extension ClientAdmission {
  /// Decides where an agent is admitted: where the session of its user is.
  private nonisolated(nonsending) func outcome(
    of agent: SessionOpenRequest.AgentParams
  ) async -> AdmissionOutcome {
    do throws(CallError) {
      let token = request.open.token ?? handshake.token
      guard let identity = try await identification.identify(token) else { return .abandoned }
      let query = try AgentSessionQuery(agent, identity)
      let found = await accepted.pause { [sessionServer] in
        await sessionServer.dispatch.session(for: query)
      }
      guard let found else { return .abandoned }
      if let server = found?.server, let session = found?.found.session {
        return .onServer(server, session: session)
      }
      let owner = found.flatMap { sessionServer.loopSessions(ofSession: $0.found.session) }
      if let owner, owner !== loopSessions { return .onLoop(owner) }
      return .admitted(try admit(request.open, identity))
    } catch {
      return .rejected(error)
    }
  }
}

// Where the session is.
extension ClientAdmission {
  private enum Location {
    /// On this loop, unless it exists nowhere: then `isNotFound`.
    case here(isNotFound: Bool)
    case decided(AdmissionOutcome)
  }

  private nonisolated(nonsending) func locate() async -> Location {
    guard request.needsSession else {
      // While this server shuts down, another opens new sessions.
      guard sessionServer.isDraining, !accepted.isRelayed,
        let successor = sessionServer.cluster?.successor
      else { return .here(isNotFound: true) }
      return .decided(.onServer(successor, session: ""))
    }
    if let reason = rejectionReason {
      return .decided(.closed(.drain, "\(reason); try another server"))
    }
    if request.claim == nil, let session = request.session, isReleased(session) {
      return .decided(.closed(.drain, "the session moves to another server"))
    }
    if let owner { return await onThisServer(owner, isNotFound: false) }
    guard let session = request.session else { return .here(isNotFound: true) }
    guard let cluster = sessionServer.cluster else {
      return await onThisServer(owner(of: session), isNotFound: true)
    }
    let found = await accepted.pause { [loopSessions] in
      await cluster.finder.find(session, for: loopSessions.loop)
    }
    switch found {
    case nil: return .decided(.abandoned)
    case .local: return await onThisServer(owner(of: session), isNotFound: false)
    case .notFound: return await onThisServer(owner(of: session), isNotFound: true)
    case .server(let server) where !accepted.isRelayed:
      return .decided(.onServer(server, session: session))
    case .server: return .decided(.closed(.drain, "the session has moved; try again"))
    case .unknown(let reason):
      // Clients may cause this often, so it is not logged as a warning.
      loopSessions.configuration.logger?.info(
        "session not found",
        metadata: [
          "session": "\(session.quoted)", "reason": "\(reason)",
          "address": "\(handshake.address ?? "")",
        ])
      return .decided(.closed(.drain, "the session cannot be reached now; try again"))
    }
  }

  /// The loop of this server that has the client, or the session that it joins.
  private var owner: LoopSessions? {
    if let claim = request.claim { return sessionServer.loopSessions(ofClient: claim.client) }
    return request.session.flatMap(sessionServer.loopSessions(ofSession:))
  }

  private func owner(of session: String) -> LoopSessions {
    owner ?? sessionServer.loopSessions(ofSession: session) ?? loopSessions
  }

  private nonisolated(nonsending) func onThisServer(
    _ owner: LoopSessions, isNotFound: Bool
  ) async -> Location {
    guard owner !== loopSessions else { return .here(isNotFound: isNotFound) }
    // A client leaves the session that it has only if the other one accepts it.
    if leavesSession, let join = request.open.join {
      let rejection = await accepted.pause { await owner.rejection(ofJoining: join) }
      guard let rejection else { return .decided(.abandoned) }
      if let error = rejection { return .decided(.rejected(error)) }
    }
    return .decided(.onLoop(owner))
  }

  private var rejectionReason: String? { loopSessions.assumeIsolated { $0.rejectionReason } }

  private func isReleased(_ session: String) -> Bool {
    loopSessions.assumeIsolated { $0.isReleased(session) }
  }
}

// Which session the client gets.
extension ClientAdmission {
  private enum ResumeDecision {
    case decided(AdmissionOutcome)
    case opensNewSession(ResumeRejection.ResumeRejectionReason)
  }

  private nonisolated(nonsending) func resume(
    _ claim: ResumeClaim, isNotFound: Bool
  ) async throws(CallError) -> ResumeDecision {
    // Without a token of its own, a client keeps its identity.
    var identity: Identity?
    if let token = request.open.token ?? handshake.token {
      identity = try await identification.identify(token, resumes: true)
      if identity == nil { return .decided(.abandoned) }
    }
    if let session = request.session, isReleased(session) {
      return .decided(.closed(.drain, "the session moves to another server"))
    }
    let attempt = ResumeAttempt(
      claim: claim, identity: identity, handshake: handshake, channel: accepted.channel,
      openTime: accepted.acceptTime)
    switch try loopSessions.resume(attempt) {
    case .failure(let rejection): return decide(rejection.reason, isNotFound: isNotFound)
    case .success(let found):
      identification.countResumedConnection(of: user(of: found))
      return .decided(.admitted(found))
    }
  }

  private func user(of found: AdmittedClient) -> String? {
    let (session, client) = (found.membership.session, found.membership.client)
    return session.assumeIsolated { $0.clients[client]?.rights.caller.identity.user } ?? nil
  }

  /// Decides what a client gets that cannot resume.
  private func decide(
    _ reason: ResumeRejection.ResumeRejectionReason, isNotFound: Bool
  ) -> ResumeDecision {
    let isInCluster = sessionServer.cluster != nil
    switch reason {
    case .stale:
      // In a cluster this may still be the later connection, which a retry shows.
      let code: CloseCode = isInCluster ? .drain : .takenOver
      return .decided(.closed(code, "A later connection has resumed the client"))
    case .unknown where isInCluster && !isNotFound && !hasSession:
      return .decided(.closed(.drain, "the session has moved; try again"))
    case .token:
      let message = "session.resume: the token is not valid for this client"
      rejections.recordRefusal(
        CallError(.notAuthenticated, message), of: request.request, by: client)
      rejections.recordRejectedToken(message, of: client)
      if let end = identification.countRejectedToken() {
        return .decided(.closed(end.code, end.reason))
      }
    case .user:
      rejections.recordRefusal(
        CallError.forbidden("identity", "session.resume: the client belongs to another user"),
        of: request.request, about: request.claim?.client, by: client)
    default: break
    }
    return .opensNewSession(reason)
  }

  /// Whether this loop has the session that the client was in.
  private var hasSession: Bool {
    request.session.map { session in loopSessions.assumeIsolated { $0.isLocal(session) } } == true
  }

  /// The client, which has no session yet.
  private var client: EventClient { EventClient(handshake, user: identification.user) }

  /// Opens a new session, or joins the one that the client has asked for.
  private nonisolated(nonsending) func open(
    _ open: SessionOpenRequest
  ) async throws(CallError) -> AdmissionOutcome {
    let token = open.token ?? handshake.token
    var identity: Identity?
    // A client that joins without a token of its own has the identity of the session's first
    // client.
    if open.join == nil || token != nil || handshake.isReserved {
      identity = try await identification.identify(token)
      if identity == nil { return .abandoned }
    }
    return .admitted(try admit(open, identity))
  }

  private func admit(
    _ open: SessionOpenRequest, _ identity: Identity?
  ) throws(CallError) -> AdmittedClient {
    try loopSessions.admit(
      open, identity, handshake, accepted.channel, leaving: leavesSession ? 1 : 0)
  }
}

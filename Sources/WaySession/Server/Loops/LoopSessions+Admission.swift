import WayRPC
import WayRouting
import WayTransport
import WayValues

// New sessions, and new clients of sessions.
extension LoopSessions {
  /// Opens a new session, or joins the one that a client has asked for, or that an agent's user has. `identity` is nil for a
  /// client that joins with the identity of the session's first client. `leaving` is how many
  /// sessions the client is about to leave. Fails with nothing changed.
  nonisolated func admit(
    _ openRequest: SessionOpenRequest, _ identity: Identity?, _ handshake: Handshake,
    _ channel: any MessageChannel, leaving: Int
  ) throws(CallError) -> AdmittedClient {
    let (session, invitation, isNew) = try onLoop {
      loopSessions throws(CallError) -> (Session, Invitation?, Bool) in
      if let join = openRequest.join {
        let found = try loopSessions.session(join.session, joinToken: join.token)
        return (found.session, found.invitation, false)
      }
      let identity = identity ?? Identity()
      if let agent = openRequest.agent {
        if let session = try loopSessions.session(joinedBy: agent, identity) {
          return (session, nil, false)
        }
        // Without the app, an agent's calls reach the handlers of the server only.
        try loopSessions.checkAdmission()
        let session = try loopSessions.makeSession(
          of: identity, handshake, leaving: leaving, isOfRequest: true)
        return (session, nil, true)
      }
      let session = try loopSessions.makeSession(
        of: identity, handshake, leaving: leaving, isDurable: true)
      return (session, nil, true)
    }
    let admitted = try session.onLoop { session throws(CallError) in
      var joiningClient = JoiningClient(identity ?? session.identity, handshake)
      joiningClient.software = openRequest.software
      joiningClient.page = openRequest.page
      if isNew {
        joiningClient.identitySource = .session(definesIt: true)
      } else if identity == nil, invitation == nil {
        joiningClient.identitySource = .session(definesIt: false)
      }
      joiningClient.isAgent = openRequest.agent != nil
      if let invitation { try joiningClient.accept(invitation) }
      let client = try session.add(joiningClient, openRequest.hosts, on: channel)
      var result = session.openResult(client)
      if let rejection = openRequest.resumeRejection {
        result.resumed = false
        result.reason = rejection.rawValue
      }
      return AdmittedClient(
        membership: SessionMembership(session: session, client: client.id),
        response: result.value, next: openRequest.hosts.isEmpty ? .nothing : .usesHosts)
    }
    if isNew { assumeIsolated { $0.add(session) } }
    return admitted
  }

  /// Opens a session for a client that has asked for none. Fails with nothing changed.
  nonisolated func admitAnonymously(
    _ identity: Identity, _ handshake: Handshake, _ channel: any MessageChannel
  ) throws(CallError) -> SessionMembership {
    let session = try onLoop { loopSessions throws(CallError) in
      try loopSessions.makeSession(of: identity, handshake)
    }
    var joiningClient = JoiningClient(identity, handshake)
    joiningClient.identitySource = .session(definesIt: true)
    let client = try session.onLoop { [joiningClient] session throws(CallError) in
      try session.addClient(joiningClient, on: channel)
    }
    assumeIsolated { $0.add(session) }
    return SessionMembership(session: session, client: client)
  }
}

extension Actor {
  /// Runs some work of an actor whose loop the caller is on. Traps on another loop.
  nonisolated func onLoop<Success: Sendable, Failure: Error>(
    _ work: @Sendable (isolated Self) throws(Failure) -> Success
  ) throws(Failure) -> Success {
    try assumeIsolated { actor in
      Result { () throws(Failure) in try work(actor) }
    }.get()
  }
}

extension Session {
  /// Adds a client that has asked for no session. Fails if the session is full.
  func addClient(
    _ joiningClient: JoiningClient, on channel: any MessageChannel
  ) throws(CallError) -> ClientID {
    let client = try makeClient(joiningClient, channel: channel)
    add(client)
    return client.id
  }

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
    try registerHosts(hosts, by: client)
    if let invitation = joiningClient.invitation {
      invitations.redeem(invitation)
      journal?.recordChange(.invitations)
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

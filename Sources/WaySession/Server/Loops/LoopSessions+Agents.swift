import WayRouting
import WayTransport
import WayValues

// The sessions that agents join.
extension LoopSessions {
  /// Returns the session of this loop that an agent joins; nil if its user has none here with a
  /// connected client. The sessions of a user are limited in number.
  func session(for query: AgentSessionQuery) -> AgentSessionQuery.FoundSession? {
    var best: AgentSessionQuery.FoundSession?
    let user = Audience.user(query.user)
    for id in query.session.map({ [$0] }) ?? audiences.sessions(in: user)
    where audiences.contains(id, in: user) {
      let found = sessions[id]?.assumeIsolated { $0.found(serving: query.uri) }
      if let found = found ?? nil { best = AgentSessionQuery.better(best, found) }
    }
    return best
  }

  /// Returns the session of this loop that an agent with an identity joins; nil if it gets a session
  /// of its own. Fails with 2401 for an identity without a user, and with 2404 if the user has not the
  /// session that the agent has asked for, or no client is connected to it.
  func session(
    joinedBy agent: SessionOpenRequest.AgentParams, _ identity: Identity
  ) throws(CallError) -> Session? {
    let query = try AgentSessionQuery(agent, identity)
    if let found = session(for: query), let session = sessions[found.session] { return session }
    guard let wanted = agent.session else { return nil }
    throw CallError(
      .noRoute, "The user has no session \(wanted.quoted) with a connected client",
      kind: "noSession")
  }
}

extension AgentSessionQuery {
  /// The query of an agent. Throws 2401 if its token names no user.
  init(
    _ agent: SessionOpenRequest.AgentParams, _ identity: Identity
  ) throws(CallError) {
    guard let user = identity.user else {
      throw CallError(.notAuthenticated, "An agent needs a token that names the user it acts for")
    }
    self.init(user: user, session: agent.session, uri: agent.uri)
  }
}

extension Session {
  /// Describes the session for an agent that is about to call a URI. Returns nil if the session is
  /// none that agents join.
  fileprivate func found(serving uri: String?) -> AgentSessionQuery.FoundSession? {
    guard !isOfRequest, !state.isEnding,
      clients.all.contains(where: { !$0.isDisconnected && $0.rights.caller.agent == nil })
    else { return nil }
    return AgentSessionQuery.FoundSession(
      session: id, servesURI: uri.map(resolver.serves) ?? true, openedAt: openedAt)
  }
}

extension SessionDestinationResolver {
  /// Whether a URI has a handler, or a host with a connection.
  fileprivate func serves(_ uri: String) -> Bool {
    guard let destination = try? destination(of: uri, [:], checking: false) else { return false }
    return !isAbsent(destination)
  }
}

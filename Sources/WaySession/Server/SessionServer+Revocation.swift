import WayRouting
import WayTransport
import WayValues

// Removal of sessions and clients.
extension SessionServer {
  /// Removes clients of a session of this server. Returns their names when the store has the change, or
  /// is unavailable. Fails with 2404 if there is no such session or client, and with 2503 if the
  /// session moves to another server.
  func revoke(_ revocation: SessionRevocation) async throws(CallError) -> [String] {
    guard let loopSessions = loopSessions(ofSession: revocation.session) else {
      throw LoopSessions.sessionNotFound(revocation.session)
    }
    return try await loopSessions.revoke(revocation)
  }

  /// Removes what clients of another server have requested here, because an administrator has removed
  /// them. Returns when the store has the change, or is unavailable.
  func removeWork(ofRevoked clients: [String]) async {
    revokedClients.withLock { $0.add(clients) }
    await removeDeepLinks(from: clients)
  }

  /// Removes the deep links that clients have sent and that wait here. Returns when the store has the
  /// change, or is unavailable.
  func removeDeepLinks(from clients: [String]) async {
    let names = Set(clients)
    unclaimedLinks.withLock { $0.remove(from: names) }
    for loopSessions in sessionsByLoop { await loopSessions.removeDeepLinks(from: names) }
  }

  /// Returns the state of a client of this server.
  func callerStatus(of client: String, in session: String) async -> CallerStatus {
    let caller = await loopSessions(ofSession: session)?.caller(named: client, in: session)
    // It may have been removed during the search.
    if revokedClients.withLock({ $0.contains(client) }) { return .revoked }
    return caller.map(CallerStatus.present) ?? .absent
  }
}

extension LoopSessions {
  /// Removes clients of a session of this loop, see ``SessionServer/revoke(_:)``.
  fileprivate func revoke(_ revocation: SessionRevocation) async throws(CallError) -> [String] {
    try checkAdmission()
    guard let session = sessions[revocation.session] else {
      throw Self.sessionNotFound(revocation.session)
    }
    let clients = try session.onLoop { session throws(CallError) in
      guard !session.state.isReleased else { throw Self.sessionMoved }
      return try session.revoke(revocation)
    }
    // In the same turn, so that no search for a client misses both.
    sessionServer.revokedClients.withLock { $0.add(clients) }
    guard await session.waitUntilStored() else { throw Self.sessionMoved }
    return clients
  }

  fileprivate func caller(named client: String, in session: String) -> Caller? {
    sessions[session]?.assumeIsolated { $0.clients.named(client)?.rights.caller } ?? nil
  }

  /// Removes the deep links of clients that an administrator has removed from all sessions.
  fileprivate func removeDeepLinks(from clients: Set<String>) async {
    var unstored: [Session] = []
    await forEachSession(.read) { session in
      let isChanged = session.assumeIsolated {
        $0.removeDeepLinks(from: clients)
      }
      if isChanged { unstored.append(session) }
    }
    for session in unstored { await session.waitUntilStored() }
  }

  private static let sessionMoved = CallError(
    .unavailable, "Another server is taking the session over; try again")
}

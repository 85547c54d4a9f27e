import WayRouting
import WayTransport
import WayValues

// Removal of sessions and clients.
extension SessionServer {
  /// Removes clients of a session of this server. Returns their names when the store has the
  /// change, or is unavailable. Fails with 2404 if there is no such session or client, and with 2503
  /// if the session moves to another server.
  func revoke(_ revocation: SessionRevocation) async throws(CallError) -> [String] {
    guard let loopSessions = loopSessions(ofSession: revocation.session) else {
      throw LoopSessions.sessionNotFound(revocation.session)
    }
    return try await loopSessions.revoke(revocation)
  }

  /// Returns the state of a client of this server.
  func callerStatus(of client: String, in session: String) async -> CallerStatus {
    if revokedClients.withLock({ $0.contains(client) }) { return .revoked }
    return await loopSessions(ofSession: session)?.callerStatus(of: client, in: session) ?? .absent
  }
}

extension LoopSessions {
  /// Removes clients of a session of this loop, see ``SessionServer/revoke(_:)``.
  fileprivate func revoke(_ revocation: SessionRevocation) async throws(CallError) -> [String] {
    try checkAdmission()
    guard let session = sessions[revocation.session] else {
      throw Self.sessionNotFound(revocation.session)
    }
    let clients = try removeClients(of: session, revocation).get()
    sessionServer.revokedClients.withLock { revoked in
      for client in clients { revoked.add(client) }
    }
    guard await session.waitUntilStored() else { throw Self.sessionMoved }
    return clients
  }

  fileprivate func callerStatus(of client: String, in session: String) -> CallerStatus {
    let caller = sessions[session]?.assumeIsolated { $0.clients.named(client)?.rights.caller }
    return (caller ?? nil).map(CallerStatus.present) ?? .absent
  }

  private func removeClients(
    of session: Session, _ revocation: SessionRevocation
  ) -> Result<[String], CallError> {
    session.assumeIsolated { session in
      guard !session.isReleased else { return .failure(Self.sessionMoved) }
      return Result { () throws(CallError) in try revocation.perform(in: session) }
    }
  }

  private static let sessionMoved = CallError(
    .unavailable, "Another server is taking the session over; try again")
}

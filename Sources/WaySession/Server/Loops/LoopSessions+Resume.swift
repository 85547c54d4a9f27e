import WayRouting
import WayTransport
import WayValues

extension LoopSessions {
  /// Resumes a client on a connection; ``Session/completeResume(_:)`` sends what follows the response.
  /// Returns a rejection if the client cannot be resumed, and then nothing has changed. Fails with 2401
  /// or 2403 if it must not be resumed, and with 2503 if the connection is reserved for administrators
  /// and the client, which has no token, is none.
  nonisolated func resume(
    _ attempt: ResumeAttempt
  ) throws(CallError) -> Result<AdmittedClient, ResumeRejection> {
    guard let (owner, client) = resumableClients.find(attempt.claim.client),
      let session = owner as? Session
    else {
      let wasDiscarded = sessionServer.directory.wasDiscarded(attempt.claim.client)
      return .failure(ResumeRejection(wasDiscarded ? .outbox : .unknown))
    }
    return try session.onLoop { session throws(CallError) in
      if attempt.identity == nil {
        try checkConnection(client.rights.caller, attempt.handshake)
      }
      return try session.resume(client, attempt).map { number in
        AdmittedClient(
          membership: SessionMembership(session: session, client: client.id),
          response: session.resumeResult(client, after: number).value, next: .completesResume)
      }
    }
  }

  /// Fails with 2503 if the connection is reserved for administrators and a caller is none.
  private nonisolated func checkConnection(
    _ caller: Caller, _ handshake: Handshake
  ) throws(CallError) {
    let mayUse = assumeIsolated { $0.mayUseConnection(caller.identity, handshake) }
    if !mayUse || handshake.isReserved && caller.isGuest { throw .reservedForAdministrators }
  }

  /// Starts to discard clients, because the outboxes of all clients together are too large.
  func startShedding() { Task { await shedOutboxes() } }

  /// Discards the disconnected clients with the largest outboxes until all outboxes together are
  /// within the limit. If no client is disconnected, closes the connection of the one with the
  /// largest outbox.
  private func shedOutboxes() async {
    var bytes = Int.max
    // If the discarded clients held nothing, the next growth of an outbox starts again.
    while resumableClients.exceedsLimit, resumableClients.bytes < bytes {
      bytes = resumableClients.bytes
      var search = resumableClients.startSearch()
      await forEach(.read) { resumableClients.continueSearch(&search) }
      if resumableClients.closeConnected(search) { break }
      await forEach(.startTask) { resumableClients.discardNext(&search) }
    }
    resumableClients.endShedding()
  }
}

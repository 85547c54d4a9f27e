import WayRPC
import WayTransport
import WayValues

/// Records what was rejected on a connection that has no session: in the list of rejections, in the
/// audit trail and as events. Confined to the connection's loop.
struct ConnectionRejectionRecorder {
  private let loopSessions: LoopSessions
  private let address: String?

  init(_ accepted: AcceptedConnection) {
    loopSessions = accepted.loopSessions
    address = accepted.handshake.address
  }

  /// Records that the server closes the connection.
  func recordClose(_ code: CloseCode, _ reason: String, of client: EventClient) {
    loopSessions.sessionServer.rejectionLog.add(
      .connection, Int(code.rawValue), reason, address: address)
    loopSessions.configuration.eventSink.connectionRejected(code, reason, client)
    guard code == .notAuthenticated else { return }
    loopSessions.sessionServer.auditTrail?.recordThrottled(
      AuditRecord(
        client: client, action: AuditRecord.refusal,
        result: .refused(code: Int(code.rawValue), rule: nil, reason: reason)))
  }

  /// Records a request that the client had no right to make. `target` is what it was about.
  func recordRefusal(
    _ error: CallError, of request: Request, about target: String? = nil, by client: EventClient
  ) {
    loopSessions.sessionServer.auditTrail?.recordThrottled(
      AuditRecord(refusing: request.method, with: error, by: client), about: target)
  }

  /// Records a token that authenticates no client: its own, or that of the session that it `joins`.
  func recordRejectedToken(_ reason: String, joins: Bool, of client: EventClient) {
    loopSessions.rejectedTokens.add(joins: joins)
    recordRejectedToken(
      reason, remedy: joins ? "the session's joinToken, or an invitation that is still good" : nil,
      of: client)
  }

  /// Records a token that is not valid for a client. `remedy` is what the server would accept.
  func recordRejectedToken(_ reason: String, remedy: String? = nil, of client: EventClient) {
    loopSessions.reportRejectedToken(reason, remedy: remedy, address: address, of: client)
  }
}

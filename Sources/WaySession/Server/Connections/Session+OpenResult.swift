import WayNavigation
import WayRPC
import WayValues

/// The result of `session.open`, and with its last members of `session.resume`.
struct SessionOpenResult: Encodable {
  struct ServerDescription: Encodable {
    let name = ServerSoftware.name
    let version = ServerSoftware.version
    /// The name of the server in its cluster.
    let id: String?
  }

  /// A call of the client that has no response yet.
  struct PendingCallDescription: Encodable {
    let id: Value
    let method: String
    let key: String?
    let uri: String?
  }

  let session: String
  let client: String
  let token: String
  let epoch: String
  let `protocol` = ServerSoftware.protocolVersion
  let server: ServerDescription
  let limits: Value
  let table: Value
  let capabilities: [String]
  /// True for a guest, which gets its page instead of the join token.
  let guest: Bool?
  let page: String?
  let joinToken: String?
  let expiresAt: Int64?
  var resumed: Bool?
  /// Why the client could not resume.
  var reason: String?
  var received: Int64?
  var sent: Int64?
  var pending: [PendingCallDescription]?
  var restarted: Bool?

  var value: Value { RecordCoder.value(of: self) }
}

extension Session {
  /// The result of `session.open`.
  func openResult(_ client: Client) -> SessionOpenResult {
    let caller = client.rights.caller
    return SessionOpenResult(
      session: id, client: client.name, token: client.link.credential.currentToken, epoch: epoch,
      server: .init(id: environment.cluster?.server), limits: environment.announcedLimits,
      table: (resolver.snapshot.table ?? .none).value,
      capabilities: client.link.isResumable ? ["resume"] : [],
      guest: caller.isGuest ? true : nil, page: caller.isGuest ? client.page : nil,
      joinToken: caller.isGuest ? nil : joinToken, expiresAt: caller.identity.expires)
  }

  /// The result of `session.resume` for a client that resumes after the message `number`.
  func resumeResult(_ client: Client, after number: UInt64) -> SessionOpenResult {
    var result = openResult(client)
    result.resumed = true
    result.received = Int64(clamping: client.lastHandled)
    result.sent = Int64(clamping: number)
    result.pending = pendingCalls(of: client).compactMap { call in
      guard case .client(let reply, _) = call.caller, !reply.isNotification else { return nil }
      return .init(
        id: reply.id.value, method: environment.meter.names[Int(reply.method)],
        key: call.idempotencyKey, uri: call.uri)
    }
    if client.link.persistence.reportsRestart { result.restarted = true }
    return result
  }
}

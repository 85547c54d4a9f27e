import WayRouting
import WayValues

/// Removes clients of a session, and tells all servers. Returns their names when the store has the
/// change, or is unavailable. Fails with 2404 if there is no such session or client, and with 2503 if
/// the session moves to another server.
struct RevokeOperation: PeerOperation {
  struct RevokeParams: Codable {
    let revocation: SessionRevocation
    let caller: PeerCaller
  }

  static let method = "peer.revoke"
  private let revocation: SessionRevocation
  /// The administrator; `nil` for the app.
  private let caller: Caller?
  private let isOfPeer: Bool

  init(_ revocation: SessionRevocation, by caller: Caller?) {
    self.revocation = revocation
    self.caller = caller
    isOfPeer = false
  }

  init(_ params: RevokeParams, in context: PeerContext) {
    revocation = params.revocation
    caller = params.caller.client
    isOfPeer = true
  }

  func makeParams() -> RevokeParams {
    RevokeParams(revocation: revocation, caller: PeerCaller(caller))
  }

  func run(in context: PeerContext) async throws(CallError) -> [String] {
    let server = context.server
    let clients = try await server.revoke(revocation)
    // A server that does not respond asks for the state of a client before it starts what has waited.
    Task { await context.dispatch.sendToOthers(RevokedClientsOperation(clients: clients)) }
    await server.removeDeepLinks(from: clients)
    if isOfPeer {
      server.auditTrail?.record(
        AuditRecord(
          of: revocation, removing: clients, by: caller.flatMap(EventClient.init),
          cause: "cluster"))
    }
    return clients
  }
}

/// Removes what clients have requested that an administrator has removed at another server.
struct RevokedClientsOperation: PeerOperation, Codable {
  static let method = "peer.revoked"
  let clients: [String]

  func run(in context: PeerContext) async -> Value {
    await context.server.removeWork(ofRevoked: clients)
    return .null
  }
}

/// Returns the state of a client of a server.
struct CallerQuery: PeerOperation, Codable {
  static let method = "peer.caller"
  let session: String
  let client: String

  func run(in context: PeerContext) async -> CallerStatus {
    await context.server.callerStatus(of: client, in: session)
  }
}

extension SessionDispatch {
  /// Removes clients of a session, on whichever server it is. Returns their names. `caller` is the
  /// administrator; `nil` for the app. Fails with 2404 if there is no such session or client.
  package func revoke(
    _ revocation: SessionRevocation, by caller: Caller?
  ) async throws(CallError) -> [String] {
    let operation = RevokeOperation(revocation, by: caller)
    let clients = try await send(operation, toServerOf: revocation.session)
    // The request of an administrator is recorded with its result.
    if caller == nil {
      sessionServer.auditTrail?.record(
        AuditRecord(of: revocation, removing: clients, by: nil, cause: "code"))
    }
    return clients
  }

  /// Returns the state of the client of a caller, on whichever server it is. Fails if a server that
  /// may have the client does not respond.
  func callerStatus(of caller: Caller) async throws(CallError) -> CallerStatus {
    guard let client = caller.client?.id else { return .absent }
    let session = caller.clientSession
    let query = CallerQuery(session: session, client: client)
    if case .server(let server) = try await location(of: session) {
      return try await send(query, to: server)
    }
    let local = try await run(query)
    guard case .absent = local, sessionServer.loopSessions(ofSession: session) == nil else {
      return local
    }
    // The server at which its session has ended knows whether an administrator has ended it.
    for response in await sendToOthers(query) {
      let status = try response.result.get()
      if case .absent = status { continue }
      return status
    }
    return .absent
  }
}

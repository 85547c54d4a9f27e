import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Relays a connection to the server that owns its session. This server authenticates the client, so
/// that the owner receives its identity, and no token.
struct ConnectionRelay: Sendable {
  private let cluster: ClusterNode
  private let accepted: AcceptedConnection
  private let first: [UInt8]
  private let tokens: RelayedTokens
  /// The token, with the reference that the owner gets instead of it; nil without a token.
  private let credential: RelayedTokens.TokenReference?
  private let needsIdentity: Bool

  /// Prepares the relay of a connection with its first request. Returns nil if the server has no
  /// cluster, or the request cannot be written again.
  init?(_ request: Request, _ accepted: AcceptedConnection) {
    let handshake = accepted.handshake
    var writer = MessageWriter()
    guard let cluster = accepted.loopSessions.sessionServer.cluster,
      (try? writer.writeRequest(request.id, request.method, request.params ?? .null)) != nil
    else { return nil }
    let engine = cluster.engine
    var tokens = RelayedTokens { engine.digest(of: $0, in: $1) }
    let replaced = tokens.replace(in: writer.bytes)
    self.cluster = cluster
    self.accepted = accepted
    first = replaced?.bytes ?? writer.bytes
    // The token of the request replaces that of the handshake.
    credential = replaced?.credentials.first ?? handshake.token.map { tokens.refer(to: $0) }
    self.tokens = tokens
    // A client that joins without a token has the identity of the session's first client.
    needsIdentity =
      credential != nil || request.method != "session.open"
      || request.params?["join"]?.object == nil || handshake.isReserved
  }

  /// Returns the identity of the client, for ``begin(of:to:_:)``; nil if the owner needs
  /// none.
  func identify() async -> Result<Identity, CallError>? {
    guard accepted.loopSessions.authenticatesClients, needsIdentity else { return nil }
    return await accepted.loopSessions.identity(
      of: accepted.handshake, withToken: credential?.token)
  }

  /// Relays the connection, with what ``identify()`` has returned. Call on its loop.
  func begin(of session: String, to server: String, _ identity: Result<Identity, CallError>?) {
    var handshake = accepted.handshake
    handshake.token = credential?.reference
    var request = RelayRequest(session: session, handshake: handshake)
    request.identity = identity.map { RelayedIdentity(reference: credential?.reference, $0) }
    var verify: (@Sendable (String) async -> Result<Identity, CallError>)?
    if accepted.loopSessions.authenticatesClients {
      verify = { [loopSessions = accepted.loopSessions, handshake = accepted.handshake] token in
        await loopSessions.identity(of: handshake, withToken: token)
      }
    }
    cluster.relays.open(
      accepted.channel, since: accepted.acceptTime.lowerBound, request, at: server, first: first,
      tokens: tokens, verify: verify)
  }
}

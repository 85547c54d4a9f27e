import WayRouting
import WayTransport
import WayValues

/// Identifies the client of one connection: the user, the connection's place among those of the user,
/// and how many tokens were rejected. Confined to the connection's loop.
final class ConnectionIdentification {
  private let accepted: AcceptedConnection
  /// The user that the client last authenticated as.
  private(set) var user: String?
  /// How many tokens were rejected.
  private(set) var rejectedTokens: Int
  /// Its place among the connections of its user; nil before the client is identified, and without a
  /// user.
  private var userSlot: UserSlot?

  /// `rejectedTokens` is how many tokens were rejected before the connection was moved to this loop.
  init(_ accepted: AcceptedConnection, rejectedTokens: Int) {
    self.accepted = accepted
    self.rejectedTokens = rejectedTokens
  }

  private var handshake: Handshake { accepted.handshake }
  private var loopSessions: LoopSessions { accepted.loopSessions }

  /// Asks the app for the client's identity, if the app authenticates clients, and counts the
  /// connection of its user. Receives no messages meanwhile. Returns nil if the connection was
  /// closed by then. Fails with 2401 if the app rejects the client, and with 2503 if its user has
  /// too many connections, or if the connection is reserved for administrators and the client is
  /// none. `resumes` if the client was accepted before.
  nonisolated(nonsending) func identify(
    _ token: String?, resumes: Bool = false
  ) async throws(CallError) -> Identity? {
    guard loopSessions.authenticatesClients else { return Identity() }
    let identity: Identity
    if let channel = accepted.channel as? any IdentifiedChannel {
      identity = try channel.identity(for: token, at: loopSessions.configuration.now())
    } else {
      let found = await accepted.pause { [loopSessions, handshake] in
        await loopSessions.identity(of: handshake, withToken: token)
      }
      guard let found else { return nil }
      identity = try found.get()
    }
    try accept(identity, resumes: resumes)
    return identity
  }

  private func accept(_ identity: Identity, resumes: Bool) throws(CallError) {
    user = identity.user
    guard mayUseConnection(identity) else { throw .reservedForAdministrators }
    let quotas = loopSessions.sessionServer.userQuotas
    // A further attempt on the same connection takes its place.
    userSlot = nil
    userSlot =
      resumes
      ? quotas.resumedConnection(of: identity.user)
      : try quotas.connection(of: identity.user, at: loopSessions.loop.nanoseconds)
  }

  /// Whether a client may use the connection, which may be reserved for administrators.
  private func mayUseConnection(_ identity: Identity) -> Bool {
    loopSessions.assumeIsolated { [handshake] in $0.mayUseConnection(identity, handshake) }
  }

  /// Whether the connection may be relayed to another server for a client, whose identity is nil if
  /// the other server needs none.
  func mayRelay(_ identity: Result<Identity, CallError>?) -> Bool {
    guard let identity else { return true }
    return (try? identity.get()).map(mayUseConnection) ?? !handshake.isReserved
  }

  /// Counts the connection of a client that has resumed, unless it was counted for its token.
  func countResumedConnection(of user: String?) {
    guard userSlot == nil else { return }
    self.user = user
    userSlot = loopSessions.sessionServer.userQuotas.resumedConnection(of: user)
  }

  /// Counts a rejected token. Returns why the connection ends; nil if it may send another one.
  func countRejectedToken() -> (code: CloseCode, reason: String)? {
    rejectedTokens += 1
    guard rejectedTokens >= SessionTokenRejections.maxPerConnection else { return nil }
    return (.tooMany, "\(rejectedTokens) tokens were rejected")
  }
}

extension CallError {
  /// The error of a client that is no administrator on a connection that is reserved for them.
  static var reservedForAdministrators: CallError {
    CallError(.unavailable, "The server has reached its limit of connections; try again later")
  }
}

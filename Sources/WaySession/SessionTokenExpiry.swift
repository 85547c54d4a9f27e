import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Ensures that no client stays after its identity has expired. A client is warned before, may send
/// a new token, and is closed otherwise.
enum SessionTokenExpiry {
  /// The time before the expiry at which a client is warned. It is at most half of the time that is
  /// left.
  private static let warningLead: Duration = .seconds(60)

  /// Schedules the warning before a client's identity expires.
  static func schedule(_ client: Client, in session: isolated Session) {
    client.expiryTimer?.cancel()
    client.expiryTimer = nil
    guard let remaining = remainingTime(of: client, in: session) else { return }
    let time = remaining - min(warningLead, remaining / 2)
    client.expiryTimer = session.setTimer(max(time, .zero), .expiry(client.id))
  }

  /// Handles an identity that is about to expire or has expired.
  static func check(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id], let remaining = remainingTime(of: client, in: session)
    else {
      return
    }
    guard remaining > .zero else {
      client.channel?.close(.renewal, "The token of the client has expired")
      return
    }
    if remaining <= warningLead { session.events.sendExpiryWarning(to: client) }
    client.expiryTimer = session.setTimer(remaining, .expiry(id))
  }

  /// Renews the identity of a client. Fails with 2403 if the token belongs to another user.
  static func renew(
    _ client: Client, as identity: Identity, in session: isolated Session
  ) throws(CallError) {
    let previous = client.rights.caller.identity
    guard identity.hasUser(of: previous) else {
      throw .forbidden("identity", "The new token belongs to another user; open another session")
    }
    var joiningClient = JoiningClient(identity, client.handshake)
    joiningClient.page = client.page
    joiningClient.software = client.software
    client.rights = session.rights(of: joiningClient, as: client.name)
    session.recordChange(client)
    // A client that joined with a token of its own does not change the session's identity.
    if previous == session.identity {
      session.identity = identity
      session.journal?.recordChange(RecordKey.session)
      session.environment.owner.updateIdentity(session.id, identity)
    }
    schedule(client, in: session)
  }

  /// Records a rejected token. The number of attempts is limited.
  static func rejectToken(_ client: Client, _ reason: String, in session: isolated Session) {
    session.environment.owner.recordRejectedToken(
      "session.renew: \(reason)", address: client.handshake.address)
    client.rejectedTokenCount += 1
    if client.rejectedTokenCount >= SessionTokenRejections.maxPerConnection {
      client.channel?.close(.tooMany, "\(client.rejectedTokenCount) tokens were rejected")
    }
  }

  /// Whether the identity of a client has expired.
  static func hasExpired(_ client: Client, in session: isolated Session) -> Bool {
    remainingTime(of: client, in: session).map { $0 <= .zero } == true
  }

  private static func remainingTime(of client: Client, in session: isolated Session) -> Duration? {
    guard let expires = client.rights.caller.identity.expires else { return nil }
    // An expiry that is far away is checked again later.
    return .milliseconds(min(max(expires - session.environment.now(), 0), 86_400_000))
  }
}

extension SessionEvents {
  /// Warns a client that its identity is about to expire, even if it has not subscribed.
  fileprivate func sendExpiryWarning(to client: Client) {
    guard let expires = client.rights.caller.identity.expires else { return }
    send(
      .sessionExpiring, ["client": .string(client.name), "expiresAt": .integer(expires)],
      to: client)
  }
}

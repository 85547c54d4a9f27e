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

  /// Schedules the warning before a client's identity expires. The identity of a guest expires with
  /// that of its inviter.
  static func schedule(_ client: Client, in session: isolated Session) {
    client.authentication.setExpiryTimer(nil)
    guard let remaining = remainingTime(of: client, in: session) else { return }
    let time = remaining - min(warningLead, remaining / 2)
    client.authentication.setExpiryTimer(session.setTimer(max(time, .zero), .expiry(client.id)))
  }

  /// Handles an identity that is about to expire or has expired.
  static func check(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id], let remaining = remainingTime(of: client, in: session)
    else {
      return
    }
    guard remaining > .zero else {
      // A client without a connection is refused when it resumes.
      guard let channel = client.channel else { return }
      let owner = client.rights.invitation == nil ? "client" : "guest's inviter"
      let reason = "The token of the \(owner) has expired"
      session.environment.auditTrail?.recordThrottled(
        AuditRecord(
          client: EventClient(client.rights.caller), action: AuditRecord.refusal,
          result: .refused(
            code: Int(CloseCode.renewal.rawValue), rule: "identity", reason: reason)))
      channel.close(.renewal, reason)
      return
    }
    // A guest has no token to renew.
    if remaining <= warningLead, client.rights.invitation == nil {
      session.events.sendExpiryWarning(to: client)
    }
    client.authentication.setExpiryTimer(session.setTimer(remaining, .expiry(id)))
  }

  /// Renews the identity of a client. Fails with 2403 if the token belongs to another user.
  static func renew(
    _ client: Client, as identity: Identity, in session: isolated Session
  ) throws(CallError) {
    let previous = client.rights.caller.identity
    guard identity.hasUser(of: previous) else {
      throw .forbidden("identity", "The new token belongs to another user; open another session")
    }
    let definesSession = client.authentication.renew()
    apply(identity, to: client, in: session)
    if definesSession { renewIdentity(of: session, as: identity) }
  }

  /// Gives a client another identity, which its guests share.
  private static func apply(
    _ identity: Identity, to client: Client, in session: isolated Session
  ) {
    update(client, identity, in: session)
    schedule(client, in: session)
    guard session.invitations.contains(by: client.rights) else { return }
    session.journal?.recordChange(.invitations)
    for guest in session.clients.all {
      guard let invitation = guest.rights.invitation, invitation.inviter === client.rights else {
        continue
      }
      let identity = Identity(user: identity.user, groups: invitation.currentGroups)
      update(guest, identity, in: session)
      schedule(guest, in: session)
    }
  }

  /// Renews the identity of a session, and of the clients that have no token of their own.
  private static func renewIdentity(of session: isolated Session, as identity: Identity) {
    session.identity = identity
    session.journal?.recordChange(.session)
    session.environment.owner.updateIdentity(session.id, identity)
    for client in session.clients.all where client.authentication.followsSession {
      apply(identity, to: client, in: session)
    }
  }

  private static func update(
    _ client: Client, _ identity: Identity, in session: isolated Session
  ) {
    var joiningClient = JoiningClient(identity, client.link.handshake)
    joiningClient.page = client.page
    joiningClient.software = client.software
    joiningClient.invitation = client.rights.invitation
    client.rights.update(session.caller(of: joiningClient, as: client.name))
    session.recordChange(client)
  }

  /// Records a rejected token. The number of attempts is limited.
  static func rejectToken(_ client: Client, _ reason: String, in session: isolated Session) {
    session.environment.owner.recordRejectedToken(
      "session.renew: \(reason)",
      of: EventClient(client.rights.caller) ?? EventClient(client.link.handshake))
    if let reason = client.authentication.rejectToken() { client.channel?.close(.tooMany, reason) }
  }

  private static func remainingTime(of client: Client, in session: isolated Session) -> Duration? {
    guard let expires = client.rights.expires else { return nil }
    let now = session.environment.now()
    // An expiry that is far away is checked again later.
    return .milliseconds(min(max(expires, now) - now, 86_400_000))
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

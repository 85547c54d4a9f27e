import WayRPC
import WayRouting
import WayTransport
import WayValues

// The identities of clients. No client stays after its identity has expired: it is warned before, may
// send a new token, and is closed otherwise. Performs what ``ClientIdentity`` decides.
extension Session {
  /// Schedules the warning before a client's identity expires. The identity of a guest expires with
  /// that of its inviter.
  func scheduleExpiry(of client: Client) {
    client.authentication.setExpiryTimer(nil)
    guard let expiry = client.rights.expires else { return }
    let time = ClientIdentity.timeUntilWarning(of: expiry, at: environment.now())
    client.authentication.setExpiryTimer(setTimer(time, .expiry(client.id)))
  }

  /// Handles an identity that is about to expire or has expired.
  func checkExpiry(of id: ClientID) {
    guard let client = clients[id], let expiry = client.rights.expires else { return }
    switch ClientIdentity.step(of: expiry, at: environment.now()) {
    case .close: closeExpired(client)
    case .wait(let time, let warns):
      // A guest has no token to renew.
      if warns, client.rights.invitation == nil { events.sendExpiryWarning(to: client) }
      client.authentication.setExpiryTimer(setTimer(time, .expiry(id)))
    }
  }

  private func closeExpired(_ client: Client) {
    // A client without a connection is refused when it resumes.
    guard let channel = client.channel else { return }
    let owner = client.rights.invitation == nil ? "client" : "guest's inviter"
    let reason = "The token of the \(owner) has expired"
    environment.auditTrail?.recordThrottled(
      AuditRecord(
        client: EventClient(client.rights.caller), action: AuditRecord.refusal,
        result: .refused(
          code: Int(CloseCode.renewal.rawValue), rule: "identity", reason: reason)))
    channel.close(.renewal, reason)
  }

  /// Renews the identity of a client. Fails with 2403 if the token belongs to another user.
  func renew(_ client: Client, as identity: Identity) throws(CallError) {
    let previous = client.rights.caller.identity
    guard identity.hasUser(of: previous) else {
      throw .forbidden("identity", "The new token belongs to another user; open another session")
    }
    let definesSession = client.authentication.renew()
    apply(identity, to: client)
    if definesSession { renewIdentity(as: identity) }
  }

  /// Gives a client another identity, which its guests share.
  private func apply(_ identity: Identity, to client: Client) {
    update(client, identity)
    guard invitations.contains(by: client.rights) else { return }
    journal?.recordChange(.invitations)
    for guest in clients.all {
      guard let invitation = guest.rights.invitation, invitation.inviter === client.rights else {
        continue
      }
      update(guest, Identity(user: identity.user, groups: invitation.currentGroups))
    }
  }

  /// Renews the identity of the session, and of the clients that have no token of their own.
  private func renewIdentity(as identity: Identity) {
    self.identity = identity
    journal?.recordChange(.session)
    environment.owner.updateIdentity(id, identity)
    for client in clients.all where client.authentication.followsSession {
      apply(identity, to: client)
    }
  }

  private func update(_ client: Client, _ identity: Identity) {
    var joiningClient = JoiningClient(identity, client.link.handshake)
    joiningClient.page = client.page
    joiningClient.software = client.software
    joiningClient.invitation = client.rights.invitation
    joiningClient.isAgent = client.rights.caller.agent != nil
    client.rights.update(caller(of: joiningClient, as: client.name))
    recordChange(client)
    scheduleExpiry(of: client)
  }

  /// Records a rejected token. The number of attempts is limited.
  func rejectToken(of client: Client, _ reason: String) {
    environment.owner.recordRejectedToken(
      "session.renew: \(reason)",
      of: EventClient(client.rights.caller) ?? EventClient(client.link.handshake))
    if let reason = client.authentication.rejectToken() { client.channel?.close(.tooMany, reason) }
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

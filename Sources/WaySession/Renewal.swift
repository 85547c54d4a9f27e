import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Sees to it that nobody stays beyond the end of an identity: a client is told before, may show a
/// new token, and is closed otherwise.
enum Renewal {
  /// Before the end by so much, or by half of what is left, a client is told of it.
  private static let lead: Duration = .seconds(60)

  /// From now on a client is told before its identity ends.
  static func watch(_ client: Client, in session: isolated Session) {
    client.expiry?.cancel()
    client.expiry = nil
    guard let left = left(of: client, in: session) else { return }
    let time = left - min(lead, left / 2)
    client.expiry = session.setAlarm(max(time, .zero), .expiry(client.id))
  }

  /// The identity of a client is about to end, or has.
  static func rang(_ id: ClientID, in session: isolated Session) {
    guard let client = session.members[id], let left = left(of: client, in: session) else {
      return
    }
    guard left > .zero else {
      client.channel?.close(.renewal, "The token of the client has expired")
      return
    }
    if left <= lead { session.happenings.tellExpiry(of: client) }
    client.expiry = session.setAlarm(left, .expiry(id))
  }

  /// A client has shown who it is anew. Fails with 2403 for somebody else.
  static func renew(
    _ client: Client, as identity: Identity, in session: isolated Session
  ) throws(CallError) {
    let former = client.rights.caller.identity
    guard identity.user == former.user else {
      throw .forbidden("identity", "The new token is another user's: open another session")
    }
    var newcomer = JoiningClient(identity, client.handshake)
    newcomer.page = client.page
    newcomer.software = client.software
    client.rights = session.rights(of: newcomer, as: client.name)
    session.note(client)
    // Who joined with a token of its own is not who the session's first client is.
    if former == session.identity {
      session.identity = identity
      session.journal?.note(RecordKey.session)
      session.environment.owner.changed(session.id, identity)
    }
    watch(client, in: session)
  }

  /// A token was refused. They cannot be tried without end.
  static func refuse(_ client: Client, _ reason: String, in session: isolated Session) {
    session.environment.owner.tokenRefused(
      "session.renew: \(reason)", address: client.handshake.address)
    client.refusedTokens += 1
    if client.refusedTokens >= RefusedTokens.maxInConnection {
      client.channel?.close(.tooMany, "\(client.refusedTokens) tokens were refused")
    }
  }

  /// Whether the identity of a client has ended.
  static func isOver(_ client: Client, in session: isolated Session) -> Bool {
    left(of: client, in: session).map { $0 <= .zero } == true
  }

  private static func left(of client: Client, in session: isolated Session) -> Duration? {
    guard let expires = client.rights.caller.identity.expires else { return nil }
    // An end far away is looked at again.
    return .milliseconds(min(max(expires - session.environment.now(), 0), 86_400_000))
  }
}

extension Happenings {
  /// Tells a client, whether or not it has subscribed, that its identity is about to end.
  fileprivate func tellExpiry(of client: Client) {
    guard let expires = client.rights.caller.identity.expires else { return }
    tell(
      .sessionExpiring, ["client": .string(client.name), "expiresAt": .integer(expires)],
      to: client)
  }
}

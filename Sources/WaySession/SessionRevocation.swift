import WayRouting
import WayTransport
import WayValues

/// The removal of a session, or of one of its clients, by an administrator or the app.
package struct SessionRevocation: Sendable {
  /// The id of the session.
  let session: String
  /// The name of the client; `nil` for all clients, which ends the session.
  let client: String?

  package init(session: String, client: String? = nil) {
    self.session = session
    self.client = client
  }

  /// Reads the form of another server.
  init(peerValue value: Value) {
    self.init(session: value["session"]?.string ?? "", client: value["client"]?.string)
  }

  /// The form for another server.
  var peerMembers: ValueObject {
    var members: ValueObject = ["session": .string(session)]
    members["client"] = client.map(Value.string)
    return members
  }

  /// Whether it names a client of a session, by itself or with the whole session.
  func names(_ other: String, of otherSession: String) -> Bool {
    session.isSameUTF8(as: otherSession) && client?.isSameUTF8(as: other) != false
  }

  /// Removes the clients, and the guests that they have invited. They cannot resume, and the
  /// invitations that they had used or made are void. Returns their names. Fails with 2404 if there
  /// is no such client.
  func perform(in session: isolated Session) throws(CallError) -> [String] {
    let removed = try clients(of: session)
    if client == nil {
      session.stopAcceptingCalls()
    } else if removed.contains(where: { $0.rights.invitation == nil }) {
      // The removed client knows the join token.
      session.replaceJoinToken()
    }
    for client in removed {
      client.rights.revoke()
      if let invitation = client.rights.invitation { session.invitations.revoke(invitation) }
      let channel = client.channel
      session.remove(client.id, code: CloseCode.forbidden.rawValue)
      channel?.close(.forbidden, reason)
    }
    return removed.map(\.name)
  }

  private func clients(of session: isolated Session) throws(CallError) -> [Client] {
    let all = session.clients.all
    guard let client else { return all }
    guard let named = session.clients.named(client) else {
      throw CallError(
        .noRoute, "There is no client \(client.quoted) in the session", kind: "noClient")
    }
    return all.filter { $0 === named || $0.rights.areLimited(by: named.rights) }
  }

  /// The method that requests it.
  fileprivate var method: String { client == nil ? "session.end" : "client.disconnect" }

  /// The reason that the removed clients receive.
  private var reason: String {
    client == nil
      ? "The server's administrator has ended the session"
      : "The server's administrator has disconnected the client"
  }
}

extension AuditRecord {
  /// Creates the record of a revocation that has removed clients; `cause` if no client of this server
  /// has requested it.
  init(
    of revocation: SessionRevocation, removing clients: [String], by client: EventClient?,
    cause: String
  ) {
    self.init(
      client: client, action: revocation.method,
      target: revocation.client.map { "\(revocation.session)/\($0)" } ?? revocation.session,
      cause: cause)
    removedClients = clients
  }
}

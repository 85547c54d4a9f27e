import WayValues

/// The removal of a session, or of one of its clients, by an administrator or the app.
package struct SessionRevocation: Codable, Sendable {
  /// The id of the session.
  let session: String
  /// The name of the client; `nil` for all clients, which ends the session.
  let client: String?

  package init(session: String, client: String? = nil) {
    self.session = session
    self.client = client
  }

  /// Whether it names a client of a session, by itself or with the whole session.
  func names(_ other: String, of otherSession: String) -> Bool {
    session.isSameUTF8(as: otherSession) && client?.isSameUTF8(as: other) != false
  }

  /// The method that requests it.
  fileprivate var method: String { client == nil ? "session.end" : "client.disconnect" }

  /// The reason that the removed clients receive.
  var reason: String {
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

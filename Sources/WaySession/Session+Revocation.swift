import WayRouting
import WayTransport
import WayValues

extension Session {
  /// Removes the clients of a revocation, and the guests that they have invited. They cannot resume,
  /// and the invitations that they had used or made are void. Returns their names. Fails with 2404 if
  /// there is no such client.
  func revoke(_ revocation: SessionRevocation) throws(CallError) -> [String] {
    let removed = try clients(of: revocation)
    if revocation.client == nil {
      stopAcceptingCalls()
    } else if removed.contains(where: { $0.rights.invitation == nil }) {
      // The removed client knows the join token.
      replaceJoinToken()
    }
    for client in removed {
      client.rights.revoke()
      if let invitation = client.rights.invitation { invitations.revoke(invitation) }
      let channel = client.channel
      remove(client.id, code: CloseCode.forbidden.rawValue)
      channel?.close(.forbidden, revocation.reason)
    }
    return removed.map(\.name)
  }

  private func clients(of revocation: SessionRevocation) throws(CallError) -> [Client] {
    guard let client = revocation.client else { return clients.all }
    guard let named = clients.named(client) else {
      throw CallError(
        .noRoute, "There is no client \(client.quoted) in the session", kind: "noClient")
    }
    return clients.all.filter { $0 === named || $0.rights.areLimited(by: named.rights) }
  }
}

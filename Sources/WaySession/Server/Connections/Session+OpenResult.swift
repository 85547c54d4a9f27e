import WayNavigation
import WayRPC
import WayValues

extension Session {
  /// What `session.open` answers.
  func welcome(_ client: Client) -> ValueObject {
    var members: ValueObject = [
      "session": .string(id), "client": .string(client.name), "token": .string(client.proof.token),
      "epoch": .string(epoch),
      "protocol": .string(ServerSoftware.protocolVersion),
      "server": .object(server),
      "limits": limits.value, "table": (guide.snapshot.table ?? .none).value,
      "capabilities": client.isResumable ? ["resume"] : [],
    ]
    let caller = client.rights.caller
    if caller.isGuest {
      members["guest"] = true
      members["page"] = client.page.map(Value.string)
    } else {
      members["joinToken"] = .string(joinToken)
    }
    members["expiresAt"] = caller.identity.expires.map(Value.integer)
    return members
  }

  /// What serves; of a server among others its name too.
  private var server: ValueObject {
    var members: ValueObject = [
      "name": .string(ServerSoftware.name), "version": .string(ServerSoftware.version),
    ]
    members["id"] = environment.cluster.map { .string($0.server) }
    return members
  }

  /// What `session.resume` answers a client that goes on after `number`.
  func welcomeBack(_ client: Client, after number: UInt64) -> Value {
    var members = welcome(client)
    members["resumed"] = true
    members["received"] = .integer(Int64(clamping: client.taken))
    members["sent"] = .integer(Int64(clamping: number))
    members["pending"] = .list(pending(of: client))
    if client.kept.isToldOfRestart { members["restarted"] = true }
    return .object(members)
  }

  /// The calls of a client that are not answered, in their order.
  private func pending(of client: Client) -> [Value] {
    unanswered(of: client).compactMap { call in
      guard case .client(let address, _) = call.caller, !address.isSilent else { return nil }
      let method = environment.meter.names[Int(address.method)]
      var members: ValueObject = ["id": address.id.value, "method": .string(method)]
      members["key"] = call.key.map(Value.string)
      members["uri"] = call.uri.map(Value.string)
      return .object(members)
    }
  }
}

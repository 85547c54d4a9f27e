import WayNavigation
import WayRPC
import WayValues

extension Session {
  /// The result of `session.open`.
  func openResult(_ client: Client) -> ValueObject {
    var members: ValueObject = [
      "session": .string(id), "client": .string(client.name),
      "token": .string(client.link.credential.currentToken),
      "epoch": .string(epoch),
      "protocol": .string(ServerSoftware.protocolVersion),
      "server": .object(serverDescription),
      "limits": environment.announcedLimits, "table": (resolver.snapshot.table ?? .none).value,
      "capabilities": client.link.isResumable ? ["resume"] : [],
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

  /// The server software; in a cluster with the name of the server.
  private var serverDescription: ValueObject {
    var members: ValueObject = [
      "name": .string(ServerSoftware.name), "version": .string(ServerSoftware.version),
    ]
    members["id"] = environment.cluster.map { .string($0.server) }
    return members
  }

  /// The result of `session.resume` for a client that resumes after the message `number`.
  func resumeResult(_ client: Client, after number: UInt64) -> Value {
    var members = openResult(client)
    members["resumed"] = true
    members["received"] = .integer(Int64(clamping: client.lastHandled))
    members["sent"] = .integer(Int64(clamping: number))
    members["pending"] = .array(pendingCalls(of: client))
    if client.link.persistence.reportsRestart { members["restarted"] = true }
    return .object(members)
  }

  /// The calls of a client that have no response yet, in their order.
  private func pendingCalls(of client: Client) -> [Value] {
    pendingCalls(of: client).compactMap { call in
      guard case .client(let reply, _) = call.caller, !reply.isNotification else { return nil }
      let method = environment.meter.names[Int(reply.method)]
      var members: ValueObject = ["id": reply.id.value, "method": .string(method)]
      members["key"] = call.idempotencyKey.map(Value.string)
      members["uri"] = call.uri.map(Value.string)
      return .object(members)
    }
  }
}

import WayTransport
import WayValues

/// `session.…`, and the methods that every JSON-RPC peer has.
enum SessionMethods {
  static let all = [
    SessionMethod("session.open", SessionOpenRequest.paramList, access: .connection) {
      _, _, _ throws(CallError) in
      throw CallError(.conflict, "This connection has already opened a session")
    },
    SessionMethod("session.resume", ResumeRequest.paramList, access: .connection) {
      _, _, _ throws(CallError) in
      throw CallError(
        .conflict,
        "session.resume must be the first request of a connection with the subprotocol waybridge.v1"
      )
    },
    SessionMethod("session.close", [], close),
    SessionMethod(
      change: "session.invite",
      [
        Param(.page, .string), Param(.hosts, .list), Param(.routes, .list), Param(.groups, .list),
        Param(.topics, .list), Param(.uses, .count), Param(.expiresMs, .count),
      ], access: .client, invite),
    SessionMethod(ClientPresence.method, [], clients),
    SessionMethod("session.gates") { session, _, _ throws(CallError) in
      let states = session.gates.states(of: session.resolver.snapshot.gates)
      return .value(RecordCoder.value(of: ["gates": states]))
    },
    SessionMethod("session.setGate", [Param(.gate, .string), Param(.open, .bool)], setGate),
    SessionMethod("session.renew", [Param(.token, .string)], renew),
    SessionMethod("rpc.discover", access: .anyone) { _, _, _ throws(CallError) in
      .now(.openRPCDocument)
    },
    SessionMethod("$/ping", .unread) { _, _, _ throws(CallError) in .value(.null) },
  ]

  /// Opens or closes a gate of the session.
  private static func setGate(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let gate = try params.required(.gate)
    guard let isOpen = params.bool(.open) else {
      throw .invalidParams("params.open is missing; it must be a boolean")
    }
    try session.setGate(gate, isOpen: isOpen)
    return .value(.null)
  }

  private static func invite(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let client = request.client
    let limits = session.limits
    let page = params.string(.page)
    // A host invites to the page that it is about to show.
    if let page, !session.pages.isExpected(page) {
      throw .notOnStack("params.page: there is no page \(page.quoted) on the stack")
    }
    let groups = Set((try params.strings(.groups, limit: limits.maxHosts) ?? []).map(UTF8Key.init))
    let own = client.rights.caller.identity.groups
    if let foreign = groups.subtracting(own).sorted().first {
      throw .forbidden(
        "invitation", "The inviter is not in the group \(foreign.text.quoted) and cannot grant it")
    }
    let uses = params.count(.uses) ?? 1
    guard (1...limits.maxClients).contains(uses) else {
      throw .invalidParams("params.uses must be an integer from 1 to \(limits.maxClients)")
    }
    let time = params.count(.expiresMs) ?? 60_000
    guard (1...86_400_000).contains(time) else {
      throw .invalidParams("params.expiresMs must be an integer from 1 to 86400000, a day")
    }
    let invitation = try Invitation(
      page: page, hosts: try params.strings(.hosts, limit: limits.maxHosts) ?? [],
      routes: try params.strings(.routes, limit: limits.maxHosts), groups: groups,
      topics: try EventMethods.patterns(params, limits)?.map(\.text) ?? [], by: client.rights,
      try client.charge(Invitation.overhead + params.size))
    let now = session.loop.nanoseconds
    try session.invitations.add(
      invitation, uses: uses, expires: now &+ UInt64(time) * 1_000_000, at: now)
    session.journal?.recordChange(.invitations)
    return .value([
      "session": .string(session.id), "token": .string(invitation.token),
      "expiresAt": .integer(session.environment.now() + Int64(time)),
    ])
  }

  /// Returns the clients of the session; to a guest only the guest itself.
  private static func clients(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) -> CallDisposition {
    let isGuest = handle.caller.isGuest
    let clients = isGuest ? [handle.client] : session.clients.all
    return .value(["clients": .array(clients.map { .object(ClientPresence($0).members) })])
  }

  private static func renew(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    guard client.rights.invitation == nil else {
      throw .notInvited(
        "A guest has no token to renew; its identity lasts as long as its inviter's")
    }
    var handshake = client.link.handshake
    handshake.token = try params.required(.token)
    let owner = session.environment.owner
    guard owner.authenticatesClients else { return .value(["expiresAt": .null]) }
    // The server that has the connection has verified the token.
    let relay = client.channel as? RelayChannel
    let call = try session.beginCall(.request(handle), size: params.size)
    call.work = .task(
      Task { [handshake] in
        do throws(CallError) {
          let identity =
            if let relay {
              try relay.identity(for: handshake.token, at: session.environment.now())
            } else {
              try await owner.identity(of: handshake)
            }
          guard session.clients[client.id] != nil else { return }
          try session.renew(client, as: identity)
          let expires = identity.expires.map(Value.integer) ?? .null
          session.settle(call.number, .success(.value(["expiresAt": expires])))
        } catch {
          session.settle(call.number, .failure(error))
          if error.protocolCode == .notAuthenticated {
            session.rejectToken(of: client, error.message)
          }
        }
      })
    return .later
  }

  private static func close(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    guard handle.batch == nil else {
      throw CallError(.invalidRequest, "session.close must not be part of a batch")
    }
    session.respond(.value(.null), to: handle)
    guard let journal = session.journal, journal.barrier != nil else {
      leave(handle.client.id, session)
      return .later
    }
    // The response waits for the store, and is sent before the connection ends.
    let loop = session.loop
    journal.whenStored { [weak session, id = handle.client.id] in
      loop.execute { [weak session] in session?.assumeIsolated { leave(id, $0) } }
    }
    return .later
  }

  private static func leave(_ id: ClientID, _ session: isolated Session) {
    let channel = session.clients[id]?.channel
    session.remove(id, code: CloseCode.normal.rawValue)
    channel?.close(.normal, "The client closed its session")
  }
}

import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

// Restores the session from its stored state when the server has started again, or has taken it over.
// Its clients have no connection yet, and may resume.
extension Session {
  /// A restored client, whose calls are not yet resumed.
  struct RestoredClient {
    let client: Client
    /// The server-wide hosts that it had registered.
    fileprivate let serverHosts: [SessionHostDefinition]
    let state: ClientStateRecord
    let batches: [UInt64: SessionBatchResponse]
  }

  /// Restores the parts, and returns the clients. `term` is the number of times that the session was
  /// taken over, counting its creation; `isComplete` means that everything which has happened in it is
  /// stored. Fails if parts contradict one another or exceed the limits. Then only events were
  /// emitted.
  func restore(
    _ snapshot: SessionSnapshot, term: Int64, isComplete: Bool
  ) throws(RecordDecodingError) -> [RestoredClient] {
    for record in snapshot.invitations?.open ?? [] { try restoreInvitation(record) }
    var restoredClients: [RestoredClient] = []
    for client in snapshot.clients {
      restoredClients.append(try restoreClient(client, term: term, isComplete: isComplete))
    }
    invitations.departInviters { clients.named($0) != nil }
    if let stack = snapshot.stack {
      try stack.restore(snapshot.pages, to: &pages, in: id, environment.logger)
    }
    if let gates = snapshot.gates { restore(gates) }
    for record in snapshot.deepLinks?.waiting ?? [] { restoreDeepLink(record) }
    // Those that were used last come first, so that they have room.
    let keys = snapshot.idempotencyKeys.sorted {
      $0.record.lastUse ?? .max > $1.record.lastUse ?? .max
    }
    for (key, record) in keys { try restoreKey(key, record) }
    // Nothing fails from here on.
    for restored in restoredClients { register(restored) }
    return restoredClients
  }

  private func restoreInvitation(
    _ record: InvitationsRecord.OpenInvitationRecord
  ) throws(RecordDecodingError) {
    let caller = record.inviter.caller(in: id, environment.logger)
    // All invitations of a client refer to the same rights.
    let inviter =
      caller.client.flatMap { invitations.inviter(named: $0.id) }
      ?? Rights(caller, environment.policy)
    do {
      invitations.restore(
        try record.open(
          by: inviter, at: loop.nanoseconds, wall: environment.now(),
          try clients.budget.charge(Invitation.overhead)))
    } catch {
      throw RecordDecodingError("an invitation cannot be restored: \(error)")
    }
  }

  private func restoreClient(
    _ snapshot: SessionSnapshot.ClientSnapshot, term: Int64, isComplete: Bool
  ) throws(RecordDecodingError) -> RestoredClient {
    let (record, state) = (snapshot.record, snapshot.state)
    var batches: [UInt64: SessionBatchResponse] = [:]
    for record in state.batches ?? [] { batches[record.number.value] = try record.batch() }
    let client = Client(
      restoring: snapshot.id, name: record.name,
      snapshot.link(isComplete: isComplete, disconnectedAt: loop.nanoseconds),
      page: record.page, software: record.software, requests: (term - 1) << 32, limits: limits,
      within: clients.budget)
    var joiningClient = JoiningClient(record.identity.identity, client.link.handshake)
    joiningClient.page = client.page
    joiningClient.software = client.software
    joiningClient.isAgent = record.isAgent == true
    if let token = record.invitation {
      joiningClient.invitation = invitations.restoreGuest(of: token)
      guard joiningClient.invitation != nil else {
        throw RecordDecodingError("the invitation of the client \(client.name.quoted) is missing")
      }
    }
    if let rights = invitations.inviter(named: client.name) {
      rights.update(caller(of: joiningClient, as: client.name))
      client.rights = rights
    } else {
      client.rights = rights(of: joiningClient, as: client.name)
    }
    client.authentication = ClientIdentity(
      record.definesIdentity.map(IdentitySource.session) ?? .own)
    clients.add(client)
    resolver.hosts.update(client.id, isAbsent: true)
    pages.markAbsent(client.name)
    return RestoredClient(
      client: client, serverHosts: restoreHosts(record, of: client), state: state, batches: batches)
  }

  /// Restores a client's hosts and topics in its session. Returns its server-wide hosts.
  private func restoreHosts(
    _ record: ClientRecord, of client: Client
  ) -> [SessionHostDefinition] {
    var serverHosts: [SessionHostDefinition] = []
    reportFailure(of: client) { () throws in
      let definitions = try SessionHostDefinition.parse(record.hosts, limit: limits.maxHosts * 2)
      serverHosts = definitions.filter { $0.scope == .server }
      let own = definitions.filter { $0.scope == .session }
      if !own.isEmpty { try registerHosts(own, by: client) }
      let patterns = try record.topics.map { (text) throws in
        try TopicPattern(text, limit: limits.maxTopic)
      }
      _ = try events.subscribers.add(patterns, for: client.id, after: 0)
    }
    return serverHosts
  }

  /// Registers hosts or topics of a client. The table, the policy or the limits may have changed:
  /// those that are no longer accepted are left out, as if the client registered them now.
  private func reportFailure(of client: Client, _ register: () throws -> Void) {
    do { try register() } catch {
      events.emit(
        .fault, .restoreFailed(client: client.name, reason: "\(error)"), by: client.rights.caller)
    }
  }

  /// Makes a restored client known outside of the session.
  private func register(_ restored: RestoredClient) {
    let client = restored.client
    environment.resumableClients.add(client, of: self)
    environment.resumableClients.updateOutboxSize(client)
    if !restored.serverHosts.isEmpty {
      reportFailure(of: client) { () throws in
        try registerHosts(restored.serverHosts, by: client)
      }
    }
    scheduleExpiry(of: client)
    startResumeTimer(of: client)
  }

  private func restoreDeepLink(_ record: DeepLinksRecord.WaitingLinkRecord) {
    let context = record.context
    let caller = context.caller.caller(in: id, environment.logger)
    let link = record.content.link
    let rights: Rights
    if let client = caller.client {
      if let sender = clients.named(client.id) {
        rights = sender.rights
      } else if caller.isGuest {
        // Its limits have gone with it.
        return events.emitRouteFailure(link.uri, .rightsEnded, by: caller)
      } else {
        rights = Rights(following: CurrentCaller(caller, validAt: 0), environment.policy)
      }
    } else {
      rights = appRights
    }
    let unclaimed = (try? Audience(context.to)).map { audience in
      UnclaimedLinks.UnclaimedLink(
        link, for: audience, by: caller.client == nil ? nil : rights.followingCopy,
        expiresAt: environment.now() + UnclaimedLinks.lifetime)
    }
    pendingLinks.restore(
      DeepLinkQueue.PendingLink(
        deepLink: link, rights: rights, keyOwner: context.keyOwner, unclaimedLink: unclaimed))
  }

  private func restoreKey(
    _ key: ScopedKey, _ record: IdempotencyKeyRecord
  ) throws(RecordDecodingError) {
    if let page = record.page {
      restoreLeader(key, record.request, page: page)
    } else if let asked = record.hostRequest {
      // If the host does not exist any more, the call is made again.
      restoreLeader(
        key, record.request, .init(client: asked.client, id: asked.id, method: asked.method),
        sequenceNumber: asked.seq.value)
    } else if let result = record.result?.result, let ageMs = record.ageMs,
      let lastUse = record.lastUse
    {
      idempotencyKeys.restore(
        key, record.request, result, within: clients.budget,
        at: loop.nanoseconds &- ageMs &* 1_000_000, lastUse: lastUse)
    } else {
      throw RecordDecodingError("the idempotency key \(key.text.quoted) has no state")
    }
  }

  /// Restores a call that waits for the outcome of a page; returns false if the page does not exist.
  func resumePageCall(for page: String, _ handle: ReplyHandle, _ uri: String?) -> Bool {
    guard pages[page] != nil,
      let call = try? beginCall(.request(handle), .open, size: 0),
      pages.restore(call.number, openerOf: page)
    else { return false }
    call.work = .page(page)
    liftLimits(of: call)
    call.uri = uri
    return true
  }

  /// Ends pages without a host: those of the app, and of clients that do not exist any more.
  func endUnhostedPages() {
    let names = Set(clients.all.map(\.name))
    for host in Set(pages.stack.allPages.map(\.host)) where !names.contains(host) {
      perform(pages.hostLeft(host))
    }
  }
}

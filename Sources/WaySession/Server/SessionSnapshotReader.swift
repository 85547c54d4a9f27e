import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Restores sessions from stored snapshots (``SessionSnapshotWriter``) when the server has started
/// again. Their clients have no connection yet, and may resume.
enum SessionSnapshotReader {
  /// The parts of a stored session, parsed so far that the kind of each is known.
  private struct ParsedParts {
    var session: StoredRecord
    var stack: StoredRecord?
    var invitations: StoredRecord?
    var deepLinks: StoredRecord?
    var pages: [String: StoredRecord] = [:]
    var clients: [(id: ClientID, description: StoredRecord, state: StoredRecord)] = []
    var idempotencyKeys: [(name: SessionIdempotencyKeys.ScopedKey, record: StoredRecord)] = []
    var frames: [ClientID: [(last: UInt64, bytes: [UInt8])]] = [:]
  }

  /// A client that is restored in its session, and not yet registered outside of it.
  private struct RestoredClient {
    let client: Client
    /// The server-wide hosts that it had registered.
    let serverHosts: [SessionHostDefinition]
    let calls: StoredCalls
  }

  /// The calls of a client, parsed.
  private struct StoredCalls {
    struct StoredCall {
      let id: RequestID
      let method: String
      /// The params of a call that may be made again.
      let params: Value?
      /// The page whose outcome the call waits for.
      let page: String?
      let uri: String?
      let batch: SessionBatchResponse?
      let position: Int
    }

    /// The requests to the client that nothing waits for any more.
    let abandonedRequests: [RequestID]
    let unconfirmedResponses: [(id: RequestID, last: UInt64)]
    let calls: [StoredCall]

    init(_ state: StoredRecord) throws(StoredRecord.RecordDecodingError) {
      var batches: [UInt64: SessionBatchResponse] = [:]
      for record in try state.records("batches") {
        let batch = try SessionBatchResponse(record)
        batches[batch.number] = batch
      }
      abandonedRequests = try state.list("requests").compactMap(RequestID.init)
      unconfirmedResponses = try state.records("answered").map {
        (record) throws(StoredRecord.RecordDecodingError) in
        (try Self.id(of: record), try record.number("seq"))
      }
      calls = try state.records("calls").map {
        [batches] (record) throws(StoredRecord.RecordDecodingError) in
        StoredCall(
          id: try Self.id(of: record), method: try record.string("method"),
          params: record["params"], page: record["page"]?.string, uri: record["uri"]?.string,
          batch: record["batch"]?.integer.flatMap { batches[UInt64(clamping: $0)] },
          position: Int(clamping: record["position"]?.integer ?? 0))
      }
    }

    private static func id(
      of record: StoredRecord
    ) throws(StoredRecord.RecordDecodingError) -> RequestID {
      guard let id = record["id"].flatMap(RequestID.init) else {
        throw record.typeMismatch("id", "request id")
      }
      return id
    }
  }

  /// Restores a session that is not yet added to the loop sessions. Fails if a part is malformed.
  static func session(
    _ stored: StoredSession, in loopSessions: isolated LoopSessions, _ writer: SessionStoreWriter
  ) throws(StoredRecord.RecordDecodingError) -> Session {
    let parts = try read(stored)
    let record = try SessionRecord(parts.session)
    let journal = SessionJournal(of: stored.id, stored.lease, writer)
    let session = Session(
      id: stored.id, record.identity, loopSessions.environment,
      journal, from: record,
      userSlot: loopSessions.sessionServer.userQuotas.restoredSession(of: record.identity.user))
    let dispatcher = loopSessions.dispatcher
    let result = session.assumeIsolated { session in
      Result { () throws(StoredRecord.RecordDecodingError) in
        let clients = try restore(
          parts, term: stored.lease.term, isComplete: stored.isComplete, in: session)
        // Nothing fails from here on.
        for restored in clients { register(restored, in: session) }
        for restored in clients where session.clients[restored.client.id] === restored.client {
          resumeCalls(restored.calls, of: restored.client, dispatcher, in: session)
        }
        endUnhostedPages(in: session)
      }
    }
    if case .failure(let error) = result {
      journal.abandon()
      throw error
    }
    return session
  }

  private static func read(_ stored: StoredSession) throws(StoredRecord.RecordDecodingError)
    -> ParsedParts
  {
    guard let bytes = stored.parts[RecordKey.session] else {
      throw StoredRecord.RecordDecodingError("the part \(RecordKey.session) is missing")
    }
    var parts = ParsedParts(session: try StoredRecord(bytes, RecordKey.session))
    for (name, bytes) in stored.parts.sorted(by: { $0.key < $1.key }) {
      switch name {
      case RecordKey.session: break
      case RecordKey.stack: parts.stack = try StoredRecord(bytes, name)
      case RecordKey.invitations: parts.invitations = try StoredRecord(bytes, name)
      case RecordKey.deepLinks: parts.deepLinks = try StoredRecord(bytes, name)
      default:
        if let id = RecordKey.suffix(of: name, "page") {
          parts.pages[id] = try StoredRecord(bytes, name)
        } else if let key = SessionIdempotencyKeys.ScopedKey(part: name) {
          parts.idempotencyKeys.append((key, try StoredRecord(bytes, name)))
        } else if let id = RecordKey.suffix(of: name, "client").flatMap({ ClientID($0) }),
          RecordKey.client(id) == name
        {
          let state = RecordKey.state(ofClient: id)
          guard let stateBytes = stored.parts[state] else {
            throw StoredRecord.RecordDecodingError("the part \(state) is missing")
          }
          parts.clients.append(
            (id, try StoredRecord(bytes, name), try StoredRecord(stateBytes, state)))
        } else if let frame = RecordKey.suffix(of: name, "frame")?.split(separator: "/"),
          frame.count == 2, let id = ClientID(frame[0]), let last = UInt64(frame[1]),
          // Only such names have the order of their numbers.
          RecordKey.frame(last, ofClient: id) == name
        {
          parts.frames[id, default: []].append((last, bytes))
        } else if RecordKey.suffix(of: name, "at") == nil {
          throw StoredRecord.RecordDecodingError("the part \(name) is unknown")
        }
      }
    }
    return parts
  }

  /// Restores the parts of a session, without effects outside of it: it may still fail.
  private static func restore(
    _ parts: ParsedParts, term: Int64, isComplete: Bool, in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) -> [RestoredClient] {
    let callers = CallerReader(session: session.id, logger: session.environment.logger)
    if let invitations = parts.invitations {
      for record in try invitations.records("open") {
        try restoreInvitation(record, callers, in: session)
      }
    }
    var clients: [RestoredClient] = []
    for client in parts.clients.sorted(by: { $0.id < $1.id }) {
      clients.append(
        try restoreClient(
          client, parts.frames[client.id] ?? [], term: term, isComplete: isComplete, in: session))
    }
    session.invitations.departInviters { session.clients.named($0) != nil }
    if let stack = parts.stack {
      try session.pages.restore(stack, pages: parts.pages, callers)
    }
    if let links = parts.deepLinks {
      for record in try links.records("waiting") {
        try restoreDeepLink(for: record, callers, in: session)
      }
    }
    let keys = try parts.idempotencyKeys.map {
      (name, record) throws(StoredRecord.RecordDecodingError) in
      (name, record, used: record["result"] == nil ? .max : try record.integer("used"))
    }
    for (name, record, used) in keys.sorted(by: { $0.used > $1.used }) {
      try restoreKey(name, record, used: used, in: session)
    }
    return clients
  }

  private static func restoreInvitation(
    _ record: StoredRecord, _ callers: CallerReader, in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) {
    let caller = try callers.caller(try record.record("inviter"))
    // All invitations of a client refer to the same rights.
    let inviter =
      caller.client.flatMap { session.invitations.inviter(named: $0.id) }
      ?? Rights(caller, session.environment.policy)
    do {
      let invitation = try Invitation(
        page: record["page"]?.string, hosts: try record.strings("hosts"),
        routes: record["routes"] == nil ? nil : try record.strings("routes"),
        groups: Set(try record.strings("groups").map(UTF8Key.init)), by: inviter,
        token: try record.string("token"),
        try session.clients.budget.charge(Invitation.overhead))
      try session.invitations.restore(
        invitation, record, at: session.loop.nanoseconds, wall: session.environment.now())
    } catch let error as StoredRecord.RecordDecodingError {
      throw error
    } catch {
      throw record.typeMismatch("token", "invitation: \(error)")
    }
  }

  private static func restoreClient(
    _ part: (id: ClientID, description: StoredRecord, state: StoredRecord),
    _ frames: [(last: UInt64, bytes: [UInt8])], term: Int64, isComplete: Bool,
    in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) -> RestoredClient {
    let (description, state) = (part.description, part.state)
    let acknowledged = try state.number("acknowledged")
    let sent = try state.number("sent")
    let outbox = Outbox(
      last: max(sent, frames.last?.last ?? 0), acknowledged: acknowledged,
      frames: frames.filter { $0.last > acknowledged })
    let handshake = Handshake(
      subprotocol: LoopSessions.subprotocol, origin: description["origin"]?.string,
      address: description["address"]?.string)
    var persistence = PersistenceState()
    persistence.isRestored = true
    persistence.reportsRestart = true
    // If a server stopped without a clean end, a client that has not resumed may still have sent it
    // messages.
    persistence.uncertainThrough =
      isComplete ? (description["doubtful"] == nil ? 0 : try description.number("doubtful")) : .max
    if let first = frames.first, let last = frames.last {
      persistence.storedFrames = first.last...last.last
    }
    let link = ClientLink(
      restoring: SequenceState(outbox, received: try state.number("received")), persistence,
      ResumeCredential(tokens: try description.strings("tokens")), handshake,
      numbersMessages: state["isNumbering"]?.bool ?? true,
      disconnectedAt: session.loop.nanoseconds)
    let client = Client(
      restoring: part.id, name: try description.string("name"), link,
      page: description["page"]?.string,
      software: ClientSoftware(try description.record("software")),
      requests: (term - 1) << 32, limits: session.limits, within: session.clients.budget)
    var joiningClient = JoiningClient(try Identity(description.record("identity")), handshake)
    joiningClient.page = client.page
    joiningClient.software = client.software
    if let token = description["invitation"]?.string {
      joiningClient.invitation = session.invitations.restoreGuest(of: token)
      guard joiningClient.invitation != nil else {
        throw description.typeMismatch("invitation", "stored invitation")
      }
    }
    if let rights = session.invitations.inviter(named: client.name) {
      rights.update(session.caller(of: joiningClient, as: client.name))
      client.rights = rights
    } else {
      client.rights = session.rights(of: joiningClient, as: client.name)
    }
    client.authentication = ClientIdentity(
      description["definesIdentity"]?.bool.map(IdentitySource.session) ?? .own)
    session.clients.add(client)
    session.resolver.hosts.update(client.id, isAbsent: true)
    session.pages.markAbsent(client.name)
    return RestoredClient(
      client: client, serverHosts: try restoreHosts(description, of: client, in: session),
      calls: try StoredCalls(state))
  }

  /// Restores a client's hosts and topics in its session. Returns its server-wide hosts.
  private static func restoreHosts(
    _ description: StoredRecord, of client: Client, in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) -> [SessionHostDefinition] {
    let (hosts, topics) = (try description.list("hosts"), try description.strings("topics"))
    var serverHosts: [SessionHostDefinition] = []
    reportFailure(of: client, in: session) { () throws in
      let definitions = try SessionHostDefinition.parse(hosts, limit: session.limits.maxHosts * 2)
      serverHosts = definitions.filter { $0.scope == .server }
      let own = definitions.filter { $0.scope == .session }
      if !own.isEmpty { try HostMethods.registerHosts(own, by: client, in: session) }
      let patterns = try topics.map { (text) throws in
        try TopicPattern(text, limit: session.limits.maxTopic)
      }
      _ = try session.events.subscribers.add(patterns, for: client.id, after: 0)
    }
    return serverHosts
  }

  /// Registers hosts or topics of a client. The table, the policy or the limits may have changed:
  /// those that are no longer accepted are left out, as if the client registered them now.
  private static func reportFailure(
    of client: Client, in session: isolated Session, _ register: () throws -> Void
  ) {
    do { try register() } catch {
      session.events.emit(
        .fault, .restoreFailed(client: client.name, reason: "\(error)"),
        by: client.rights.caller)
    }
  }

  /// Makes a client of a restored session known outside of it.
  private static func register(_ restored: RestoredClient, in session: isolated Session) {
    let client = restored.client
    session.environment.resumableClients.add(client, of: session)
    session.environment.resumableClients.updateOutboxSize(client)
    if !restored.serverHosts.isEmpty {
      reportFailure(of: client, in: session) { () throws in
        try HostMethods.registerHosts(restored.serverHosts, by: client, in: session)
      }
    }
    SessionTokenExpiry.schedule(client, in: session)
    SessionResumption.startTimer(client, in: session)
  }

  private static func restoreDeepLink(
    for record: StoredRecord, _ callers: CallerReader, in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) {
    let caller = try callers.caller(try record.record("caller"))
    let link = try DeepLink(record)
    let rights: Rights
    if let client = caller.client {
      if let sender = session.clients.named(client.id) {
        rights = sender.rights
      } else if caller.isGuest {
        // Its limits have gone with it.
        return session.events.emitRouteFailure(link.uri, .rightsEnded, by: caller)
      } else {
        rights = Rights(following: CurrentCaller(caller, validAt: 0), session.environment.policy)
      }
    } else {
      rights = session.appRights
    }
    let unclaimed = (try? SessionPush.audience(record["to"])).map { audience in
      UnclaimedLinks.UnclaimedLink(
        link, for: audience, by: caller.client == nil ? nil : rights.followingCopy,
        expiresAt: session.environment.now() + UnclaimedLinks.lifetime)
    }
    session.pendingLinks.restore(
      PendingLinks.PendingLink(
        deepLink: link, rights: rights, keyOwner: record["keyOwner"]?.string,
        unclaimedLink: unclaimed))
  }

  private static func restoreKey(
    _ name: SessionIdempotencyKeys.ScopedKey, _ record: StoredRecord, used: Int64,
    in session: isolated Session
  ) throws(StoredRecord.RecordDecodingError) {
    let request = try IdempotentRequest(record.record("request"))
    if let page = record["page"]?.string {
      _ = IdempotentCalls.restore(name, request, page: page, in: session)
      return
    }
    if record["asked"] != nil {
      let asked = try record.record("asked")
      guard let id = asked["id"].flatMap(RequestID.init) else {
        throw asked.typeMismatch("id", "request id")
      }
      let hostRequest = SessionIdempotencyKeys.HostRequest(
        client: Int(clamping: try asked.integer("client")), id: id,
        method: try asked.string("method"))
      // If the host does not exist any more, the call is made again.
      _ = IdempotentCalls.restore(
        name, request, hostRequest, sequenceNumber: try asked.number("seq"), in: session)
      return
    }
    let age = UInt64(clamping: try record.integer("ageMs"))
    let at = session.loop.nanoseconds &- age &* 1_000_000
    session.idempotencyKeys.restore(
      name, request, try Result(stored: try record.record("result")),
      within: session.clients.budget, at: at, used: Int(min(used, 1 << 53)))
  }

  /// Restores the calls of a client. Calls that wait for pages continue, and those with an
  /// idempotency key are retried. The others fail, since their outcome is not known.
  private static func resumeCalls(
    _ stored: StoredCalls, of client: Client, _ dispatcher: SessionRequestDispatcher,
    in session: isolated Session
  ) {
    // No caller waits any more for the responses of its requests.
    for id in stored.abandonedRequests { session.clientWriter.cancelRequest(id, client) }
    client.link.persistence.unconfirmedResponses = stored.unconfirmedResponses
    for call in stored.calls {
      // A client whose identity has expired may make the call again, when it has a new one.
      if let params = call.params, !client.rights.hasExpired(at: session.environment.now()) {
        let request = Request(id: call.id, method: call.method, params: params)
        dispatcher.retry(request, client, call.batch, call.position, in: session)
        continue
      }
      let reply = ReplyHandle(
        client: client, id: call.id, batch: call.batch, position: call.position,
        method: session.environment.meter.methodIndex(
          dispatcher.methods.find(call.method)?.place),
        isNotification: false)
      guard let page = call.page, resumePageCall(for: page, reply, call.uri, in: session) else {
        session.respond(SessionResumption.outcomeUnknown, to: reply)
        continue
      }
    }
  }

  /// Restores a call that waits for the outcome of a page; returns false if the page does not
  /// exist.
  private static func resumePageCall(
    for page: String, _ reply: ReplyHandle, _ uri: String?, in session: isolated Session
  ) -> Bool {
    guard session.pages[page] != nil,
      let call = try? session.beginCall(.request(reply), .open, size: 0),
      session.pages.restore(call.number, openerOf: page)
    else { return false }
    call.work = .page(page)
    session.stopCounting(call)
    call.uri = uri
    return true
  }

  /// Ends pages without a host: those of the app, and of clients that do not exist any more.
  private static func endUnhostedPages(in session: isolated Session) {
    let names = Set(session.clients.all.map(\.name))
    for host in Set(session.pages.stack.allPages.map(\.host)) where !names.contains(host) {
      session.perform(session.pages.hostLeft(host))
    }
  }
}

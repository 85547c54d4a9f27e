import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Makes sessions of what is kept of them (``Keeping``), when the server is there again: their
/// members have no connection yet, and may resume.
enum SessionSnapshotReader {
  /// What is kept of a session, read so far that it can be told what each part is.
  private struct ParsedParts {
    var session: Record
    var stack: Record?
    var invitations: Record?
    var links: Record?
    var pages: [String: Record] = [:]
    var clients: [(id: ClientID, who: Record, state: Record)] = []
    var keys: [(name: Keys.Name, record: Record)] = []
    var frames: [ClientID: [(last: UInt64, bytes: [UInt8])]] = [:]
  }

  /// The session, which is none of the hub's yet. Fails where a part is not as it was written.
  static func session(
    _ stored: StoredSession, in hub: isolated LoopSessions, _ writer: StoreWriter
  ) throws(Record.Fault) -> Session {
    let parts = try read(stored)
    let record = try SessionRecord(parts.session)
    let journal = Journal(of: stored.id, stored.lease, writer)
    let session = Session(
      id: stored.id, record.identity, hub.environment, heardBySwift: hub.listeners.kinds, journal,
      from: record)
    let inbox = hub.inbox
    let result = session.assumeIsolated { session in
      Result { () throws(Record.Fault) in
        try restore(
          parts, term: stored.lease.term, isComplete: stored.isComplete, inbox, in: session)
      }
    }
    if case .failure(let fault) = result {
      journal.abandon()
      throw fault
    }
    return session
  }

  private static func read(_ stored: StoredSession) throws(Record.Fault) -> ParsedParts {
    guard let bytes = stored.parts[RecordKey.session] else {
      throw Record.Fault("there is no part \(RecordKey.session)")
    }
    var parts = ParsedParts(session: try Record(bytes, RecordKey.session))
    for (name, bytes) in stored.parts.sorted(by: { $0.key < $1.key }) {
      switch name {
      case RecordKey.session: break
      case RecordKey.stack: parts.stack = try Record(bytes, name)
      case RecordKey.invitations: parts.invitations = try Record(bytes, name)
      case RecordKey.links: parts.links = try Record(bytes, name)
      default:
        if let id = RecordKey.rest(of: name, "page") {
          parts.pages[id] = try Record(bytes, name)
        } else if let key = Keys.Name(part: name) {
          parts.keys.append((key, try Record(bytes, name)))
        } else if let id = RecordKey.rest(of: name, "client").flatMap({ ClientID($0) }) {
          let state = RecordKey.state(ofClient: id)
          guard let kept = stored.parts[state] else {
            throw Record.Fault("there is no part \(state)")
          }
          parts.clients.append((id, try Record(bytes, name), try Record(kept, state)))
        } else if let frame = RecordKey.rest(of: name, "frame")?.split(separator: "/"),
          frame.count == 2, let id = ClientID(frame[0]), let last = UInt64(frame[1])
        {
          parts.frames[id, default: []].append((last, bytes))
        } else if RecordKey.rest(of: name, "at") == nil {
          throw Record.Fault("nothing is known of the part \(name)")
        }
      }
    }
    return parts
  }

  private static func restore(
    _ parts: ParsedParts, term: Int64, isComplete: Bool, _ inbox: Inbox,
    in session: isolated Session
  ) throws(Record.Fault) {
    let callers = CallerReader(session: session.id, logger: session.environment.logger)
    if let invitations = parts.invitations {
      for record in try invitations.records("open") {
        try invite(record, callers, in: session)
      }
    }
    for client in parts.clients.sorted(by: { $0.id < $1.id }) {
      try add(
        client, parts.frames[client.id] ?? [], term: term, isComplete: isComplete, in: session)
    }
    if let stack = parts.stack {
      try session.pages.restore(stack, pages: parts.pages, callers)
    }
    if let links = parts.links {
      for record in try links.records("waiting") { try wait(for: record, callers, in: session) }
    }
    let keys = try parts.keys.map { (name, record) throws(Record.Fault) in
      (name, record, used: record["page"] == nil ? try record.integer("used") : .max)
    }
    for (name, record, used) in keys.sorted(by: { $0.used > $1.used }) {
      try restore(name, record, used: used, in: session)
    }
    for client in parts.clients.sorted(by: { $0.id < $1.id }) {
      guard let member = session.members[client.id] else { continue }
      try goOn(with: client.state, of: member, inbox, in: session)
    }
    endPages(in: session)
  }

  private static func invite(
    _ record: Record, _ callers: CallerReader, in session: isolated Session
  ) throws(Record.Fault) {
    let inviter = Rights(
      try callers.caller(try record.record("inviter")), session.environment.policy)
    do {
      let invitation = try Invitation(
        page: record["page"]?.string, hosts: try record.strings("hosts"),
        routes: record["routes"] == nil ? nil : try record.strings("routes"),
        groups: Set(try record.strings("groups")), by: inviter, token: try record.string("token"),
        try session.members.budget.charge(Invitation.overhead))
      try session.invitations.restore(
        invitation, record, at: session.loop.nanoseconds, wall: session.wall)
    } catch let fault as Record.Fault {
      throw fault
    } catch {
      throw record.fault("token", "invitation that can be used: \(error)")
    }
  }

  private static func add(
    _ kept: (id: ClientID, who: Record, state: Record),
    _ frames: [(last: UInt64, bytes: [UInt8])], term: Int64, isComplete: Bool,
    in session: isolated Session
  ) throws(Record.Fault) {
    let (who, state) = (kept.who, kept.state)
    let acknowledged = try state.number("acknowledged")
    let sent = try state.number("sent")
    let outbox = Outbox(
      last: max(sent, frames.last?.last ?? 0), acknowledged: acknowledged,
      frames: frames.filter { $0.last > acknowledged })
    let handshake = Handshake(
      subprotocol: LoopSessions.subprotocol, origin: who["origin"]?.string,
      address: who["address"]?.string)
    let client = Client(
      restoring: kept.id, name: try who.string("name"),
      proof: ClientProof(tokens: try who.strings("tokens")),
      page: who["page"]?.string, software: ClientSoftware(try who.record("software")),
      handshake: handshake, SequenceState(outbox, received: try state.number("received")),
      requests: (term - 1) << 32, absentSince: session.loop.nanoseconds, limits: session.limits,
      within: session.members.budget)
    client.isNumbering = state["isNumbering"]?.bool ?? true
    client.kept.isRestarted = true
    client.kept.isToldOfRestart = true
    // Who has not come since a server ended in the midst of something may still have sent it.
    client.kept.doubtful =
      isComplete ? (who["doubtful"] == nil ? 0 : try who.number("doubtful")) : .max
    if let first = frames.first, let last = frames.last {
      client.kept.frames = first.last...last.last
    }
    var newcomer = JoiningClient(try Identity(who.record("identity")), handshake)
    newcomer.page = client.page
    newcomer.software = client.software
    if let token = who["invitation"]?.string {
      newcomer.invitation = session.invitations.restoreGuest(of: token)
      guard newcomer.invitation != nil else {
        throw who.fault("invitation", "invitation that was kept")
      }
    }
    client.rights = session.rights(of: newcomer, as: client.name)
    session.members.add(client)
    session.environment.resumables.add(client, of: session)
    session.environment.resumables.count(client)
    try declare(who, by: client, in: session)
    Renewal.watch(client, in: session)
    ClientResume.wait(client, in: session)
  }

  private static func declare(
    _ who: Record, by client: Client, in session: isolated Session
  ) throws(Record.Fault) {
    do {
      let definitions = try HostDefinition.list(
        try who.list("hosts"), limit: session.limits.maxHosts * 2)
      for scope in [HostDefinition.Scope.session, .server] {
        let own = definitions.filter { $0.scope == scope }
        if !own.isEmpty { try HostMethods.declare(own, by: client, in: session) }
      }
      let topics = try who.strings("topics").map { (text) throws in
        try TopicPattern(text, limit: session.limits.maxTopic)
      }
      _ = try session.happenings.subscribers.add(topics, for: client.id)
    } catch let fault as Record.Fault {
      throw fault
    } catch {
      // The table, the policy or the limits are others now. What is not taken any more is missing,
      // as it would be for who declares it anew; the rest goes on.
      session.happenings.tell(
        .fault, .notRestored(client: client.name, reason: "\(error)"))
    }
  }

  private static func wait(
    for record: Record, _ callers: CallerReader, in session: isolated Session
  ) throws(Record.Fault) {
    let caller = try callers.caller(try record.record("caller"))
    let rights =
      caller.client == nil
      ? session.ownRights : Rights(caller, session.environment.policy)
    let link = DeepLink(try record.string("uri"), params: try record.object("params"))
    do {
      try session.links.add(PendingLinks.Waiting(link: link, rights: rights))
    } catch {
      throw record.fault("uri", "link that has room: \(error.message)")
    }
  }

  private static func restore(
    _ name: Keys.Name, _ record: Record, used: Int64, in session: isolated Session
  ) throws(Record.Fault) {
    let request = try KeyedRequest(record.record("request"))
    if let page = record["page"]?.string {
      _ = KeyedCalls.restore(name, request, page: page, in: session)
      return
    }
    let age = UInt64(clamping: try record.integer("ageMs"))
    let at = session.loop.nanoseconds &- age &* 1_000_000
    session.keys.restore(
      name, request, try Result(kept: try record.record("result")),
      within: session.members.budget, at: at, used: Int(min(used, 1 << 53)))
  }

  /// The calls of a client: those that wait for pages go on, those with a key are made again, and
  /// the others are answered that their outcome is not known.
  private static func goOn(
    with state: Record, of client: Client, _ inbox: Inbox, in session: isolated Session
  ) throws(Record.Fault) {
    var batches: [UInt64: BatchReply] = [:]
    for record in try state.records("batches") {
      let batch = try BatchReply(record)
      batches[batch.number] = batch
    }
    // What it was asked, nobody waits for any more.
    for id in try state.list("requests").compactMap(RequestID.init) {
      session.mail.cancelRequest(id, client)
    }
    client.kept.answered = try state.records("answered").map { (record) throws(Record.Fault) in
      guard let id = record["id"].flatMap(RequestID.init) else {
        throw record.fault("id", "id of a request")
      }
      return (id, try record.number("seq"))
    }
    for record in try state.records("calls") {
      guard let id = record["id"].flatMap(RequestID.init) else {
        throw record.fault("id", "id of a request")
      }
      let batch = record["batch"]?.integer.flatMap { batches[UInt64(clamping: $0)] }
      let position = Int(clamping: record["position"]?.integer ?? 0)
      let method = try record.string("method")
      if let params = record["params"] {
        let request = Request(id: id, method: method, params: params)
        inbox.repeated(request, client, batch, position, in: session)
        continue
      }
      let address = ReplyHandle(
        client: client, id: id, batch: batch, position: position,
        method: session.environment.meter.place(inbox.methods.find(method)?.place),
        isSilent: false)
      guard let page = record["page"]?.string,
        wait(for: page, address, record["uri"]?.string, in: session)
      else {
        session.reply(ClientResume.unknown, to: address)
        continue
      }
    }
  }

  /// A call waits for the outcome of a page as before; false where that is not there.
  private static func wait(
    for page: String, _ address: ReplyHandle, _ uri: String?, in session: isolated Session
  ) -> Bool {
    guard session.pages[page] != nil,
      let call = try? session.begin(.request(address), .open, size: 0),
      session.pages.restore(call.number, openerOf: page)
    else { return false }
    call.work = .page(page)
    call.uri = uri
    return true
  }

  /// Pages that nobody shows any more end: those of Swift code, and of clients that are not there.
  private static func endPages(in session: isolated Session) {
    let names = Set(session.members.all.map(\.name))
    for host in Set(session.pages.stack.allPages.map(\.host)) where !names.contains(host) {
      session.act(session.pages.hostLeft(host))
    }
  }
}

import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Takes the connections of one loop and knows the sessions that are on it.
package actor LoopSessions: ChannelAcceptor {
  /// The subprotocol of clients that open a session; without it a connection speaks plain JSON-RPC.
  package static let subprotocol = "waybridge.v1"

  nonisolated let loop: any EventLoop
  nonisolated let configuration: SessionServerConfiguration
  private nonisolated let executor: UnownedSerialExecutor
  package nonisolated let meter: SessionCallMeter
  nonisolated let watch: Watch
  nonisolated let turns: SessionLoopScheduler
  nonisolated let inbox: Inbox
  package nonisolated let refusedTokens = RefusedTokens()
  /// The hubs of the server's loops, this one among them.
  package nonisolated let group: SessionServer
  /// The rules for all clients.
  nonisolated let policy: PolicySource
  package nonisolated let resumables: ResumableClients
  private(set) var sessions: [String: Session] = [:]
  var audiences = AudienceIndex()
  var retainedEvents = RetainedEvents()
  var listeners = EventListeners()
  /// Nil where sessions end with the server.
  package nonisolated let writer: StoreWriter?
  nonisolated let decoder: MessageDecoder
  private var isDraining = false
  /// For how long its sessions are its own for certain; nil where they always are.
  nonisolated let tenure: Tenure?
  /// Why nothing of its sessions may go out; nil where it may.
  var cutOffReason: String?
  /// How often it has come to be unknown which sessions are still here, and how often so that was
  /// when it was found out last.
  var doubts = (begun: 0, settled: 0)
  /// Its place in the group.
  private nonisolated let place: SessionDirectory.Place

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }
  nonisolated var limits: Limits { configuration.limits }

  /// One more hub of a group, which does not keep it.
  package init(loop: any EventLoop, in group: SessionServer) {
    self.loop = loop
    self.group = group
    configuration = group.configuration
    let configuration = group.configuration
    turns = SessionLoopScheduler(loop)
    place = group.makePlace()
    resumables = ResumableClients(
      loop, limits: configuration.limits, sharedBy: group.size, group.directory, at: place)
    let limits = configuration.limits
    decoder = MessageDecoder(
      maxBatch: limits.maxBatch, maxDepth: limits.maxDepth, maxValues: limits.maxValues)
    policy = PolicySource(configuration.rulebook)
    let observer = configuration.observer
    watch = Watch(
      on: loop, now: configuration.now, notesAlways: observer.kinds.contains(.call))
    meter = SessionCallMeter(methods: SessionServer.methods, loop: loop, timed: observer.timed)
    inbox = Inbox(
      methods: MethodTable(others: configuration.methods), meter: meter, watch: watch)
    tenure = group.cluster?.engine.tenure
    writer = group.store.map { StoreWriter($0, on: loop, tell: observer.storeChanged) }
    executor = loop.asUnownedSerialExecutor()
    group.put(self, at: place)
  }

  package nonisolated func accept(
    _ channel: any MessageChannel, _ handshake: Handshake
  ) -> any MessageReceiver {
    let connection = Connection(channel, handshake, hub: self)
    connection.begin()
    return connection
  }

  /// A session that is not known to the others before its first client is admitted. `leaving` is
  /// how many sessions the caller is about to end.
  /// Where it `isKept`, it goes on after the server was restarted.
  func makeSession(
    of identity: Identity, leaving: Int = 0, isKept: Bool = false
  ) throws(CallError) -> Session {
    if isDraining { throw .draining }
    if isKept { try checkOpen() }
    guard group.sessionCount - leaving < limits.maxSessions || makeRoom() else {
      throw CallError(
        .unavailable,
        "The server has \(limits.maxSessions) sessions, which is its limit; try again later")
    }
    let id = "s-" + Token.random(12)
    let journal = isKept ? writer.map { Journal(of: id, SessionLease(owner: $0.owner), $0) } : nil
    journal?.note(RecordKey.session)
    return Session(id: id, identity, environment, heardBySwift: listeners.kinds, journal)
  }

  /// Has deserted sessions go. Those of other loops go too late for who asks now, and in time for
  /// who comes again.
  private func makeRoom() -> Bool {
    if resumables.makeRoom() { return true }
    for hub in group.hubs where hub !== self {
      hub.loop.execute { _ = hub.resumables.makeRoom() }
    }
    return false
  }

  /// What the sessions have from here.
  var environment: SessionEnvironment {
    SessionEnvironment(
      loop: loop, cluster: group.cluster, router: configuration.router, limits: limits,
      budget: group.budget,
      meter: meter,
      turns: turns, resumables: resumables,
      observer: configuration.observer, watch: watch, now: configuration.now, owner: self,
      serverHosts: group.serverHosts, policy: policy,
      table: configuration.table, tracer: configuration.tracer, logger: configuration.logger)
  }

  /// A session has its first client: from now on others find it.
  func add(_ session: Session) {
    sessions[session.id] = session
    group.directory.add(session: session.id, at: place)
    audiences.add(session.id, session.assumeIsolated { $0.identity })
  }

  /// The session that a join token opens, with the invitation where it is one's. Fails with 2401.
  func session(
    _ id: String, joinToken: String
  ) throws(CallError) -> (session: Session, invitation: Invitation?) {
    guard let session = sessions[id] else { throw Self.notJoined }
    if Token.areEqual(session.joinToken, joinToken) { return (session, nil) }
    let now = loop.nanoseconds
    let (invitation, isTaken) = session.assumeIsolated { session in
      if let found = session.invitations.find(joinToken, at: now) {
        return (found as Invitation?, false)
      }
      // A guest whose connection was lost, and that comes again without resuming, takes the place
      // of the one that it was.
      ClientResume.leave(toNextGuestWith: joinToken, in: session)
      return (
        session.invitations.find(joinToken, at: now), session.invitations.isTaken(joinToken)
      )
    }
    guard let invitation else { throw isTaken ? Self.noPlace : Self.notJoined }
    return (session, invitation)
  }

  private static let noPlace = CallError(
    .notAuthenticated, "params.join: as many guests are there as the invitation is for",
    data: ["retryable": true])

  private static let notJoined = CallError(
    .notAuthenticated,
    "params.join: there is no such session, or the token is neither its joinToken nor that of an "
      + "invitation that can still be used")

  /// The server is about to end: it takes no new sessions, begins no new tasks and pages, and tells
  /// every client. Calls under way may end within `time`; returns when they have, or it has passed.
  func drain(for time: Duration) async {
    isDraining = true
    guard time > .zero else { return }
    let end = beginDraining(Array(sessions.values), for: time)
    while loop.nanoseconds < end, Self.haveCallsToFinish(Array(sessions.values)) { await pause() }
  }

  /// Tells the clients of sessions; gives when the time is over, by the loop's clock.
  private func beginDraining(_ sessions: [Session], for time: Duration) -> UInt64 {
    let until = configuration.now() + time.milliseconds
    for session in sessions { session.assumeIsolated { Draining.begin(until: until, in: $0) } }
    return loop.nanoseconds &+ UInt64(max(time.milliseconds, 0)) * 1_000_000
  }

  private static func haveCallsToFinish(_ sessions: [Session]) -> Bool {
    sessions.contains { session in session.assumeIsolated { Draining.hasCallsToFinish($0) } }
  }

  /// A moment in which calls may end.
  private func pause() async {
    await withCheckedContinuation { continuation in
      _ = loop.schedule(after: .milliseconds(20)) { continuation.resume() }
    }
  }

  /// The server is about to end, and others go on with its sessions: each is handed over when what
  /// is under way in it has ended, and in any case when `time` has passed. Returns when they are,
  /// or the store has not taken them in some seconds. Those that cannot be are told, and may end
  /// their calls, as where nobody goes on.
  func handOver(for time: Duration) async {
    isDraining = true
    beginMoving()
    let end = beginDraining(others, for: time)
    while !release(all: loop.nanoseconds >= end)
      || loop.nanoseconds < end && Self.haveCallsToFinish(others)
    {
      await pause()
    }
    let patience = loop.nanoseconds &+ Self.releasePatience
    while !kept.isEmpty, loop.nanoseconds < patience { await pause() }
  }

  /// Hands over the sessions in which nothing is under way, or all of them; true when all are.
  private func release(all isLast: Bool) -> Bool {
    var released = 0
    for session in kept where released < Self.maxReleased || isLast {
      session.assumeIsolated { session in
        guard !session.isReleased, isLast || SessionHandover.isReady(session) else { return }
        if isLast { Draining.end(session) }
        SessionHandover.release(session)
        released += 1
      }
    }
    return kept.allSatisfy { session in session.assumeIsolated { $0.isReleased } }
  }

  private func beginMoving() {
    for session in kept { session.assumeIsolated { SessionHandover.begin($0) } }
  }

  /// How many sessions are handed over at once, so that not all clients come to the others together.
  private static let maxReleased = 256
  /// Nanoseconds that the store may take for the last changes.
  private static let releasePatience: UInt64 = 5_000_000_000

  /// The sessions that another server can go on with.
  var kept: [Session] { sessions.values.filter(\.isKeepable) }

  private var others: [Session] { sessions.values.filter { !$0.isKeepable } }

  /// Whether a session is handed over, and not here any more soon.
  func isReleased(_ session: String) -> Bool {
    sessions[session]?.assumeIsolated { $0.isReleased } == true
  }

  /// Whether a session is here and stays for now, so that who is not in it is in none.
  func isHere(_ session: String) -> Bool {
    sessions[session]?.assumeIsolated { !$0.isReleased && !$0.isEnding } == true
  }

  /// The server ends: every call in flight is answered with -32802, and none begins to wait.
  func drain() {
    isDraining = true
    for session in sessions.values { session.assumeIsolated { Draining.end($0) } }
  }

  /// From now on other rules hold, for calls under way too; nil for none.
  func follow(_ rulebook: CompiledPolicy?) { policy.rulebook = rulebook }

  /// The rules that hold now.
  var rulebook: CompiledPolicy? { policy.rulebook }
}

extension LoopSessions: SessionOwner {
  nonisolated func ended(_ session: String, unfollowed: [UnclaimedLinks.Link]) {
    assumeIsolated { hub in
      hub.sessions.removeValue(forKey: session)
      hub.group.directory.remove(session: session)
      hub.audiences.remove(session)
      hub.retainedEvents.forget(session: session)
    }
    let left = unfollowed.filter { !$0.audience.isOneSession }
    guard !left.isEmpty else { return }
    putBack(left)
    Task { for hub in group.hubs { await hub.offerLinks() } }
  }

  nonisolated func takeLinks(for session: String) -> [UnclaimedLinks.Link] {
    let links = assumeIsolated { hub in
      hub.group.links.withLock { links in
        links.take { hub.audiences.contains(session, in: $0.audience) }
      }
    }
    assumeIsolated { hub in
      hub.group.allServers.fetchLinks(for: session, of: hub.audiences.identity(of: session))
    }
    return links.map { link in
      var link = link
      link.rights = link.rights?.handed(to: policy)
      return link
    }
  }

  nonisolated func putBack(_ links: [UnclaimedLinks.Link]) {
    group.links.withLock { $0.putBack(links) }
  }

  nonisolated func sessionInfos() async -> [SessionInfo] { await group.allServers.sessions(.all) }

  nonisolated func shareTable() async -> Result<[Value], CallError>? {
    await group.allServers.shareTable()
  }

  nonisolated func recheck() async -> HostRouteAudit { await group.recheck() }

  nonisolated func push(_ push: Push, by rights: Rights) async throws(CallError) -> [Value] {
    try await group.allServers.push(push, by: rights, on: loop)
  }

  nonisolated func tokenRefused(_ reason: String, address: String?) {
    refusedTokens.add(joins: false)
    group.refusals.add(.token, ErrorCode.notAuthenticated.rawValue, reason, address: address)
    configuration.observer.tokenRefused(reason)
  }

  nonisolated func changed(_ session: String, _ identity: Identity) {
    assumeIsolated { $0.audiences.change(session, identity) }
  }

  nonisolated func heard(_ event: BridgeEvent) {
    assumeIsolated { $0.listeners.deliver(event) }
  }

  nonisolated func retained(
    for session: String, client: String, where isWanted: @Sendable (String) -> Bool
  ) -> [[UInt8]] {
    assumeIsolated { hub in
      hub.retainedEvents.messages { topic, audience in
        isWanted(topic) && hub.audiences.contains(session, client: client, in: audience)
      }
    }
  }
}

import Synchronization
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Takes connections and knows the sessions, all of them on one loop.
package actor SessionHub: ChannelAcceptor {
  /// The subprotocol of clients that open a session; without it a connection speaks plain JSON-RPC.
  package static let subprotocol = "waybridge.v1"

  nonisolated let loop: any EventLoop
  nonisolated let configuration: HubConfiguration
  private nonisolated let executor: UnownedSerialExecutor
  package nonisolated let meter: CallMeter
  nonisolated let turns: Turns
  nonisolated let inbox: Inbox
  package nonisolated let refusedTokens = RefusedTokens()
  /// What is kept for all sessions.
  package nonisolated let budget: ByteBudget
  /// The rules for all clients.
  nonisolated let policy: PolicySource
  nonisolated let serverHosts: ServerHosts
  package nonisolated let resumables: Resumables
  private(set) var sessions: [String: Session] = [:]
  var audiences = AudienceIndex()
  var retainedEvents = RetainedEvents()
  var listeners = EventListeners()
  var expectedLinks: ExpectedLinks
  /// Nil where sessions end with the server.
  package nonisolated let writer: StoreWriter?
  /// How often those call who have no connection.
  var posters: [String: CallRate] = [:]
  nonisolated let decoder: MessageDecoder
  /// What the last recheck found, and of what.
  package internal(set) var lastRecheck = Recheck()
  var rechecked: RecheckedState?
  private var isDraining = false
  private nonisolated let drains = Atomic(false)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }
  nonisolated var limits: Limits { configuration.limits }

  package init(loop: any EventLoop, configuration: HubConfiguration) {
    self.loop = loop
    self.configuration = configuration
    turns = Turns(loop)
    serverHosts = ServerHosts(limits: configuration.limits)
    resumables = Resumables(loop, limits: configuration.limits)
    let limits = configuration.limits
    decoder = MessageDecoder(
      maxBatch: limits.maxBatch, maxDepth: limits.maxDepth, maxValues: limits.maxValues)
    policy = PolicySource(configuration.rulebook)
    budget = ByteBudget(.server, configuration.limits.maxServerBytes)
    let observer = configuration.observer
    meter = CallMeter(methods: Self.methods, loop: loop, timed: observer.timed)
    inbox = Inbox(
      methods: MethodTable(others: configuration.methods), meter: meter,
      notesCalls: observer.kinds.contains(.call))
    expectedLinks = ExpectedLinks(limit: configuration.limits.maxLinks)
    writer = configuration.store.map { store in
      StoreWriter(store, owner: Token.random(12), on: loop, tell: observer.storeChanged)
    }
    executor = loop.asUnownedSerialExecutor()
  }

  /// The names of the methods that every bridge has.
  package static var methods: [String] { MethodTable.own.map(\.name) }

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
    guard sessions.count - leaving < limits.maxSessions || resumables.makeRoom() else {
      throw CallError(
        .unavailable,
        "The server has \(limits.maxSessions) sessions, which is its limit; try again later")
    }
    let id = "s-" + Token.random(12)
    let journal = isKept ? writer.map { Journal(of: id, SessionLease(owner: $0.owner), $0) } : nil
    journal?.note(PartName.session)
    return Session(id: id, identity, environment, heardBySwift: listeners.kinds, journal)
  }

  /// What the sessions have from here.
  var environment: SessionEnvironment {
    SessionEnvironment(
      loop: loop, router: configuration.router, limits: limits, budget: budget, meter: meter,
      turns: turns, resumables: resumables,
      observer: configuration.observer, now: configuration.now, owner: self,
      serverHosts: serverHosts, policy: policy,
      table: configuration.table, tracer: configuration.tracer, logger: configuration.logger)
  }

  /// A session has its first client: from now on others find it.
  func add(_ session: Session) {
    sessions[session.id] = session
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
      Resuming.leave(toNextGuestWith: joinToken, in: session)
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
  package func drain(for time: Duration) async {
    isDraining = true
    drains.store(true, ordering: .relaxed)
    guard time > .zero else { return }
    beginDraining(until: configuration.now() + time.milliseconds)
    let end = loop.nanoseconds &+ UInt64(max(time.milliseconds, 0)) * 1_000_000
    while loop.nanoseconds < end, hasCallsToFinish { await pause() }
  }

  private func beginDraining(until time: Int64) {
    for session in sessions.values {
      session.assumeIsolated { Draining.begin(until: time, in: $0) }
    }
  }

  private var hasCallsToFinish: Bool {
    sessions.values.contains { session in session.assumeIsolated { Draining.hasCallsToFinish($0) } }
  }

  /// A moment in which calls may end.
  private func pause() async {
    await withCheckedContinuation { continuation in
      _ = loop.schedule(after: .milliseconds(20)) { continuation.resume() }
    }
  }

  /// Whether the server is about to end. Any thread may ask.
  package nonisolated var isAboutToEnd: Bool { drains.load(ordering: .relaxed) }

  /// The server ends: every call in flight is answered with -32802, and none begins to wait.
  package func drain() {
    isDraining = true
    drains.store(true, ordering: .relaxed)
    for session in sessions.values { session.assumeIsolated { Draining.end($0) } }
  }

  /// How many sessions there are now.
  package var sessionCount: Int { sessions.count }
}

extension SessionHub: SessionOwner {
  nonisolated func ended(_ session: String, unfollowed: [ExpectedLinks.Link]) {
    assumeIsolated { hub in
      hub.sessions.removeValue(forKey: session)
      hub.audiences.remove(session)
      hub.retainedEvents.forget(session: session)
    }
    let left = unfollowed.filter { !$0.audience.isOneSession }
    guard !left.isEmpty else { return }
    putBack(left)
    loop.execute { [weak self] in self?.offerLinks() }
  }

  nonisolated func takeLinks(for session: String) -> [ExpectedLinks.Link] {
    assumeIsolated { hub in
      hub.expectedLinks.take { [audiences = hub.audiences] in
        audiences.contains(session, in: $0.audience)
      }
    }
  }

  nonisolated func putBack(_ links: [ExpectedLinks.Link]) {
    assumeIsolated { $0.expectedLinks.putBack(links) }
  }

  nonisolated private func offerLinks() {
    let sessions = assumeIsolated { Array($0.sessions.values) }
    for session in sessions { session.assumeIsolated { LinkFollowing.hostsChanged(in: $0) } }
  }

  nonisolated func tokenRefused(_ reason: String) {
    refusedTokens.add(joins: false)
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

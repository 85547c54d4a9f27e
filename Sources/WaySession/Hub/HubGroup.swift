import Synchronization
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The hubs of a server, one for each of its loops, and what they have in common. What the app's
/// side and administrators do to all sessions goes to each hub once. Usable from any thread.
///
/// It does not keep the hubs: who has begun them does.
package final class SessionServer: Sendable {
  private struct Member {
    weak let hub: LoopSessions?
  }

  package let configuration: SessionServerConfiguration
  let directory = SessionDirectory()
  /// What is kept for all sessions.
  package let budget: ByteBudget
  let serverHosts: ServerHosts
  /// Who was not let in of late.
  package let refusals: SessionRejectionLog
  let policies: PolicyVersions
  /// Nil where sessions end with the server.
  let store: StoreQueue?
  /// This server among others; nil for one alone.
  package let cluster: ClusterNode?
  /// The table that this server shares with others; nil where it has none, or is alone.
  let clusterTable: ClusterTable?
  /// Whether the sessions that are kept were taken up.
  let isRestored = Atomic(false)
  /// Sessions that were taken over and cannot be read.
  let unreadable = Locked<Set<String>>([])
  /// Whether it was told that nobody is let in, since other servers may have what is here.
  private let wasClosed = Atomic(false)
  /// How many loops share what is for all of them.
  let size: Int
  /// Links for sessions that are not there yet.
  let links: Locked<UnclaimedLinks>
  /// How often those call who have no connection.
  let posters: Locked<HTTPCallerRates>
  /// What the last recheck found, and of what.
  let rechecked = Locked((recheck: HostRouteAudit(), of: RouteAuditInput?.none))
  private let members = Locked<[Member]>([])
  private let drains = Atomic(false)
  let listeners = Atomic(0)
  private let lastPosted = Atomic(0)
  /// When it began: milliseconds since 1970-01-01 UTC.
  let since: Int64

  /// Of so many loops.
  package init(_ configuration: SessionServerConfiguration, size: Int = 1) {
    self.configuration = configuration
    since = configuration.now()
    self.size = max(size, 1)
    let limits = configuration.limits
    budget = ByteBudget(.server, limits.maxServerBytes)
    serverHosts = ServerHosts(limits: limits)
    refusals = SessionRejectionLog(now: configuration.now)
    policies = PolicyVersions(configuration.rulebook, at: configuration.now())
    let store = (configuration.cluster?.engine.store ?? configuration.store).map {
      StoreQueue($0, owner: Token.random(12))
    }
    self.store = store
    if let engine = configuration.cluster?.engine, let store {
      cluster = ClusterNode(engine, store.owner, store)
    } else {
      cluster = nil
    }
    if let engine = configuration.cluster?.engine, let table = configuration.table {
      clusterTable = ClusterTable(engine, table, now: configuration.now)
    } else {
      clusterTable = nil
    }
    links = Locked(UnclaimedLinks(limit: limits.maxLinks))
    posters = Locked(HTTPCallerRates(limits))
  }

  /// The names of the methods that every bridge has.
  package static var methods: [String] { MethodTable.own.map(\.name) }

  /// The place of one more hub, which is then to be put there.
  func makePlace() -> SessionDirectory.Place {
    members.withLock { members in
      members.append(Member(hub: nil))
      return members.count - 1
    }
  }

  func put(_ hub: LoopSessions, at place: SessionDirectory.Place) {
    members.withLock { $0[place] = Member(hub: hub) }
  }

  /// All of them, in the order of their loops.
  package var hubs: [LoopSessions] { members.withLock { $0.compactMap(\.hub) } }

  /// What is done in the sessions of all servers that this is one of; here alone where it is alone.
  package var allServers: AllServers { AllServers(group: self) }

  private func hub(at place: SessionDirectory.Place?) -> LoopSessions? {
    guard let place else { return nil }
    return members.withLock { $0.indices.contains(place) ? $0[place].hub : nil }
  }

  /// The one that has a session.
  func hub(ofSession session: String) -> LoopSessions? {
    hub(at: directory.place(ofSession: session))
  }

  /// The one whose client may resume.
  func hub(ofClient client: String) -> LoopSessions? { hub(at: directory.place(ofClient: client)) }

  /// Those that may have sessions of an audience.
  func hubs(for audience: Audience) -> [LoopSessions] {
    switch audience {
    case .all, .user, .group: hubs
    case .session(let session), .client(_, let session):
      hub(ofSession: session).map { [$0] } ?? []
    }
  }

  /// What becomes of some work in each of the hubs that may have sessions of an audience.
  func gather<Part: Sendable>(
    _ audience: Audience = .all, _ work: @escaping @Sendable (LoopSessions) async -> [Part]
  ) async -> [Part] {
    let hubs = hubs(for: audience)
    guard hubs.count > 1 else {
      if let only = hubs.first { return await work(only) }
      return []
    }
    return await withTaskGroup(of: [Part].self) { group in
      for hub in hubs { group.addTask { await work(hub) } }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// The one that takes the next request without a connection, in turn.
  var nextHub: LoopSessions? {
    let hubs = hubs
    guard !hubs.isEmpty else { return nil }
    let number = lastPosted.add(1, ordering: .relaxed).newValue
    return hubs[(number & .max) % hubs.count]
  }
}

extension SessionServer: ChannelAcceptor {
  package func accept(
    _ channel: any MessageChannel, _ handshake: Handshake
  ) -> any MessageReceiver {
    let loop = channel.loop
    guard let hub = hubs.first(where: { $0.loop === loop }) else {
      channel.close(.drain, "the server is ending")
      return Nobody()
    }
    return hub.accept(channel, handshake)
  }

  /// Takes what comes when nobody is there any more.
  private final class Nobody: MessageReceiver {
    func receive(_ message: RawSpan, as kind: MessageKind) {}
    func closed(_ code: UInt16?) {}
  }
}

// Beginning and end.
extension SessionServer {
  /// Takes up the sessions that are kept, before anybody is let in. Throws where the store cannot be
  /// used. A session that cannot be read stays in the store, and is told to the observer.
  package func restore() async throws {
    guard let store else { return }
    let hubs = hubs
    guard let first = hubs.first else { return }
    if let cluster {
      serverHosts.whenChanged { [weak cluster] in cluster?.tell() }
      try await cluster.begin(ClusterDelegate(of: self), on: first.loop)
      try await clusterTable?.begin()
      for hub in hubs { await hub.watchTenure() }
    }
    let kept = try await store.load()
    cluster?.counts.takenAtStart.add(kept.count)
    cluster?.doubtOthers()
    for (number, stored) in kept.enumerated() {
      await hubs[number % hubs.count].take(up: stored)
    }
    isRestored.store(true, ordering: .relaxed)
    cluster?.tell()
  }

  /// Hands over what is left to the store, and gives that back. Nothing may change afterwards.
  package func closeStore() async {
    for hub in hubs { await hub.settleStore() }
    await cluster?.end()
    await store?.close()
  }

  /// Whether the store takes nothing, so that sessions are not kept. Any thread may ask.
  package var isDegraded: Bool { hubs.contains { $0.writer?.isDegraded == true } }

  /// Whether this server can reach the engine that it shares with others, and whether it may take
  /// its sessions for its own; nil for one alone. Any thread may ask.
  package var clusterState: (isReached: Bool, isInTenure: Bool)? {
    guard let cluster, let loop = hubs.first?.loop else { return nil }
    return (
      cluster.engine.isReached, !cluster.engine.tenure.isOver(at: loop.nanoseconds)
    )
  }

  /// The hub of one loop lets nobody in. It is told once for all.
  func closed(because reason: String) {
    guard !wasClosed.exchange(true, ordering: .relaxed) else { return }
    configuration.logger?.error(
      "nobody is let in until the cluster has this server again",
      metadata: ["reason": "\(cluster?.engine.failure ?? reason)"])
  }

  /// The hub of one loop lets clients in again.
  func opened() {
    guard wasClosed.exchange(false, ordering: .relaxed) else { return }
    configuration.logger?.notice("clients are let in again")
  }

  /// From now on other rules hold, for calls under way too; nil for none.
  package func follow(_ rulebook: CompiledPolicy?) async {
    policies.add(rulebook, at: configuration.now())
    for hub in hubs { await hub.follow(rulebook) }
  }

  /// Whether the server is about to end. Any thread may ask.
  package var isAboutToEnd: Bool { drains.load(ordering: .relaxed) }

  /// The server is about to end: it takes no new sessions, begins no new tasks and pages, and tells
  /// every client. Calls under way may end within `time`; returns when they have, or it has passed.
  /// One of several hands its sessions over meanwhile.
  package func drain(for time: Duration) async {
    drains.store(true, ordering: .relaxed)
    cluster?.tell()
    _ = await gather { [cluster] hub -> [Void] in
      if cluster == nil { await hub.drain(for: time) } else { await hub.handOver(for: time) }
      return []
    }
  }

  /// The server ends: every call in flight is answered with -32802, and none begins to wait.
  package func drain() async {
    drains.store(true, ordering: .relaxed)
    for hub in hubs { await hub.drain() }
  }

  /// Ends what listens: no more events will come.
  package func endListening() async {
    for hub in hubs { await hub.endListening() }
  }
}

// What there is.
extension SessionServer {
  /// How many sessions there are now.
  package var sessionCount: Int { directory.sessionCount }

  /// Counts what there is now.
  package func census() async -> SessionTotals {
    var census = SessionTotals()
    for hub in hubs { census += await hub.census() }
    return census
  }

  /// What the calls of all loops came to, in the order of the meter's methods.
  package var callCounts: [MethodCounts] { MethodCounts.sum(of: hubs.map(\.meter)) }
}

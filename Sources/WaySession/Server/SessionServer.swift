import Synchronization
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The sessions of all loops of a server, and the state that the loops share. Operations of the app
/// and of administrators on all sessions run once on each loop. Usable from any thread.
///
/// It does not retain the loops' sessions: their creator does.
package final class SessionServer: Sendable {
  private struct LoopReference {
    weak let loopSessions: LoopSessions?
  }

  private enum ServerState: UInt8, AtomicRepresentable {
    /// The stored sessions are not restored yet. Becomes `serving` or `draining`.
    case starting
    /// Its sessions are here. Becomes `draining`.
    case serving
    /// It is about to end, and rejects new sessions.
    case draining
  }

  package let configuration: SessionServerConfiguration
  /// The limits in the result of `session.open`.
  let announcedLimits: Value
  let directory = SessionDirectory()
  /// The memory budget of all sessions.
  package let budget: ByteBudget
  package let userQuotas: UserQuotas
  let serverHosts: ServerHosts
  /// The records of administrative actions and refusals; `nil` if nobody reads them.
  package let auditTrail: AuditTrail?
  /// Recent rejections.
  package let rejectionLog: SessionRejectionLog
  package let policyVersions: PolicyVersions
  /// How many results did not fit their declarations.
  package let invalidResults = InvalidResultCounts([:])
  /// Nil if sessions end with the server.
  let store: SessionStoreQueue?
  /// This server as a node of its cluster; nil if it belongs to none.
  package let cluster: ClusterNode?
  /// The table that this server shares with others; nil if it has none, or belongs to no cluster.
  let clusterTable: SessionClusterTable?
  private let state = Atomic(ServerState.starting)
  /// Sessions that were taken over and cannot be read.
  let unreadableSessions = Locked<Set<String>>([])
  /// Whether it has logged that connections are rejected, since other servers may own the sessions
  /// that are here.
  private let isFenceLogged = Atomic(false)
  /// How many loops share the state.
  let loopCount: Int
  /// Deep links for sessions that do not exist yet.
  let unclaimedLinks: Locked<UnclaimedLinks>
  /// The clients that administrators have removed.
  let revokedClients = Locked(RevokedClients())
  /// The pages that were opened for other servers, by their sessions and ids.
  let pagesOfPeers = Locked<[String: OpenedPage]>([:])
  /// The pushes with idempotency keys.
  let pushKeys = Locked(SessionPushKeys())
  /// The call rates of callers over HTTP, which have no connection.
  let httpCallerRates: Locked<HTTPCallerRates>
  /// The streams of agents that report changes of the tools.
  let agentListeners = AgentListeners()
  /// The result of the last route audit, and its input.
  let routeAudit = Locked((audit: HostRouteAudit(), input: RouteAuditInput?.none))
  private let loopReferences = Locked<[LoopReference]>([])
  let lastListenerID = Atomic(0)
  private let roundRobin = Atomic(0)
  /// When it began, in milliseconds since 1970-01-01 UTC.
  let startTime: Int64

  /// Creates a server with a number of loops.
  package init(_ configuration: SessionServerConfiguration, loopCount: Int = 1) {
    self.configuration = configuration
    startTime = configuration.now()
    self.loopCount = max(loopCount, 1)
    let limits = configuration.limits
    announcedLimits = limits.value
    budget = ByteBudget(.server, limits.maxServerBytes)
    userQuotas = UserQuotas(limits)
    serverHosts = ServerHosts(limits: limits)
    auditTrail = configuration.eventSink.audit.map { AuditTrail(now: configuration.now, $0) }
    rejectionLog = SessionRejectionLog(now: configuration.now)
    policyVersions = PolicyVersions(configuration.compiledPolicy, at: configuration.now())
    let sessions = configuration.sessions
    let store = (sessions.cluster?.engine.store ?? sessions.store).map {
      SessionStoreQueue($0, owner: SessionSecret.random(12))
    }
    self.store = store
    if let engine = sessions.cluster?.engine, let store {
      cluster = ClusterNode(engine, store.owner, store)
    } else {
      cluster = nil
    }
    if let engine = sessions.cluster?.engine, let table = sessions.table {
      clusterTable = SessionClusterTable(engine, table, now: configuration.now)
    } else {
      clusterTable = nil
    }
    unclaimedLinks = Locked(UnclaimedLinks(limit: limits.maxLinks, within: budget))
    httpCallerRates = Locked(HTTPCallerRates(limits))
  }

  /// The names of the methods that every bridge has.
  package static var methodNames: [String] { MethodTable.builtIn.map(\.name) }

  /// Reserves the index of one more loop; ``register(_:at:)`` must follow.
  func reserveLoopIndex() -> SessionDirectory.LoopIndex {
    loopReferences.withLock { references in
      references.append(LoopReference(loopSessions: nil))
      return references.count - 1
    }
  }

  func register(_ loopSessions: LoopSessions, at index: SessionDirectory.LoopIndex) {
    loopReferences.withLock { $0[index] = LoopReference(loopSessions: loopSessions) }
    if index == 0 { auditTrail?.begin(on: loopSessions.loop) }
  }

  /// The sessions of all loops, in the order of the loops.
  package var sessionsByLoop: [LoopSessions] {
    loopReferences.withLock { $0.compactMap(\.loopSessions) }
  }

  private func loopSessions(at index: SessionDirectory.LoopIndex?) -> LoopSessions? {
    guard let index else { return nil }
    return loopReferences.withLock { $0.indices.contains(index) ? $0[index].loopSessions : nil }
  }

  /// The `LoopSessions` that owns a session.
  func loopSessions(ofSession session: String) -> LoopSessions? {
    loopSessions(at: directory.loopIndex(ofSession: session))
  }

  /// The `LoopSessions` that owns a client which may resume.
  func loopSessions(ofClient client: String) -> LoopSessions? {
    loopSessions(at: directory.loopIndex(ofClient: client))
  }

  /// Each `LoopSessions` that may own sessions of an audience.
  func sessionsByLoop(for audience: Audience) -> [LoopSessions] {
    switch audience {
    case .all, .user, .group: sessionsByLoop
    case .session(let session), .client(_, let session):
      loopSessions(ofSession: session).map { [$0] } ?? []
    }
  }

  /// Runs some work on each loop that may have sessions of an audience, and collects the results.
  func gather<LoopResult: Sendable>(
    _ audience: Audience = .all, _ work: @escaping @Sendable (LoopSessions) async -> [LoopResult]
  ) async -> [LoopResult] {
    let candidates = sessionsByLoop(for: audience)
    guard candidates.count > 1 else {
      if let only = candidates.first { return await work(only) }
      return []
    }
    return await withTaskGroup(of: [LoopResult].self) { group in
      for loopSessions in candidates { group.addTask { await work(loopSessions) } }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// The loop that handles the next request without a connection, in turn.
  var nextLoopSessions: LoopSessions? {
    let allLoopSessions = sessionsByLoop
    guard !allLoopSessions.isEmpty else { return nil }
    let number = roundRobin.add(1, ordering: .relaxed).newValue
    return allLoopSessions[(number & .max) % allLoopSessions.count]
  }
}

// Start and shutdown.
extension SessionServer {
  /// Records that the stored sessions are restored.
  func beginServing() {
    _ = state.compareExchange(expected: .starting, desired: .serving, ordering: .relaxed)
  }

  /// Passes all remaining changes to the store, and closes it. Nothing may change afterwards.
  package func closeStore() async {
    for loopSessions in sessionsByLoop { await loopSessions.flushStore() }
    await cluster?.end()
    await store?.close()
  }

  /// Whether the store fails, so that sessions are not persisted. May be called from any thread.
  package var isDegraded: Bool { sessionsByLoop.contains { $0.writer?.isDegraded == true } }

  /// Whether this server can reach the cluster's engine, and why it rejects connections; nil if it
  /// accepts them. Nil if there is no cluster. May be called from any thread.
  package var clusterState: (isReachable: Bool, rejectionReason: ClusterRejectionReason?)? {
    cluster.map { ($0.engine.isReachable, $0.rejectionReason) }
  }

  /// Logs that one loop rejects connections. It is logged once for all loops.
  func logFence(because reason: ClusterRejectionReason) {
    guard !isFenceLogged.exchange(true, ordering: .relaxed) else { return }
    let details: String? =
      switch reason {
      case .conflict: cluster?.conflict?.description
      case .engineUnreachable: cluster?.engine.failure
      case .declaredDown, .verification, .leaseExpired: nil
      }
    configuration.logger?.error(
      "connections are rejected until this server can use its cluster again",
      metadata: ["reason": "\(details ?? reason.text)"])
  }

  /// Logs that clients are accepted again.
  func logUnfence() {
    guard isFenceLogged.exchange(false, ordering: .relaxed) else { return }
    configuration.logger?.notice("connections are accepted again")
  }

  /// Applies another policy, also to running calls; nil for none. Fails with 2409, with nothing
  /// changed, if another program could bypass the policy by messages to the servers of the cluster.
  package func applyPolicy(_ compiledPolicy: CompiledPolicy?) async throws(CallError) {
    if compiledPolicy != nil, cluster?.engine.protectsMessages == false {
      throw CallError(
        .conflict,
        "A policy needs protected messages between the servers of the cluster; give all of them the "
          + "same secret file, and start them again")
    }
    policyVersions.add(compiledPolicy, at: configuration.now())
    for loopSessions in sessionsByLoop { await loopSessions.applyPolicy(compiledPolicy) }
    agentListeners.toolsChanged()
  }

  /// Whether the server is about to end. May be called from any thread.
  package var isDraining: Bool { state.load(ordering: .relaxed) == .draining }

  /// Whether the stored sessions are not restored yet. May be called from any thread.
  var isStarting: Bool { state.load(ordering: .relaxed) == .starting }

  /// Starts the shutdown: rejects new sessions, tasks and pages, and notifies every client. Running
  /// calls may end within `time`. Returns when they have ended, or the time has passed. A server of
  /// a cluster hands its sessions over meanwhile.
  package func drain(for time: Duration) async {
    state.store(.draining, ordering: .relaxed)
    cluster?.publishPresence()
    _ = await gather { [cluster] loopSessions -> [Void] in
      if cluster == nil {
        await loopSessions.drain(for: time)
      } else {
        await loopSessions.handOver(for: time)
      }
      return []
    }
  }

  /// Ends all sessions: every call in flight is answered with -32802, and none begins to wait.
  package func drain() async {
    state.store(.draining, ordering: .relaxed)
    for loopSessions in sessionsByLoop { await loopSessions.drain() }
  }

  /// Ends all event streams.
  package func closeEventStreams() async {
    for loopSessions in sessionsByLoop { await loopSessions.closeEventStreams() }
  }
}

// Counts.
extension SessionServer {
  /// How many sessions there are now.
  package var sessionCount: Int { directory.sessionCount }

  /// Whether a session is here.
  package func hasSession(_ session: String) -> Bool {
    directory.loopIndex(ofSession: session) != nil
  }

  /// Counts the current state of all loops.
  package func totals() async -> SessionTotals {
    var totals = SessionTotals()
    for loopSessions in sessionsByLoop { totals += await loopSessions.totals() }
    return totals
  }

  /// The call counts of all loops, in the order of the meter's methods.
  package var callCounts: [MethodCounts] { MethodCounts.sum(of: sessionsByLoop.map(\.meter)) }
}

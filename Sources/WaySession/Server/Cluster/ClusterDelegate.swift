import Glibc
import Logging
import Synchronization
import WayRouting
import WayTransport
import WayValues

/// This server's side of a ``ClusterNode``: its presence, and its reactions to other servers.
/// Usable from any thread.
final class ClusterDelegate: ClusterNode.NodeDelegate {
  private weak let sessionServer: SessionServer?
  private let logger: Logger?
  /// The last known generation of the hosts of each other server.
  private let knownHostGenerations = Locked<[String: Int64]>([:])
  /// Whether the retained events of the others were requested.
  private let hasRequestedRetained = Atomic(false)

  init(of sessionServer: SessionServer) {
    self.sessionServer = sessionServer
    logger = sessionServer.configuration.logger
  }

  private var others: [String] { sessionServer?.cluster?.others.map(\.server) ?? [] }

  var isDraining: Bool { sessionServer?.isDraining ?? true }

  func hasSession(_ session: String) -> Bool {
    sessionServer?.directory.loopIndex(ofSession: session) != nil
  }

  func isUnreadable(_ session: String) -> Bool {
    sessionServer?.unreadableSessions.withLock { $0.contains(session) } == true
  }

  func reportFailure(_ reason: String) {
    logger?.warning("cluster", metadata: ["reason": "\(reason)"])
  }

  func reportDifference(_ subject: ClusterAgreement.AgreementSubject, to server: String) {
    let what =
      switch subject {
      case .policy: "another server has had another policy"
      case .keys: "another server has had other keys of tokens"
      }
    let minutes = ClusterAgreement.gracePeriod / 60_000_000_000
    logger?.warning(
      "\(what) for \(minutes) minutes",
      metadata: ["server": "\(server)"])
  }

  func reportConflict(_ conflict: ClusterConflict) {
    logger?.critical(
      "this server does not serve: its settings differ from those of its cluster",
      metadata: ["reason": "\(conflict)"])
  }

  func reportJoinDelay(_ reason: String) {
    logger?.notice("waiting before joining the cluster", metadata: ["reason": "\(reason)"])
  }

  func reportRejectedMessage(_ reason: String) {
    sessionServer?.configuration.eventSink.peerMessageRejected(reason)
  }

  var announcement: ClusterAnnouncement {
    let configuration = sessionServer?.configuration
    let authentication: ClusterAnnouncement.ClientAuthentication =
      switch (configuration?.sessions.identify, configuration?.sessions.allowsAnonymous) {
      case (nil, _): .none
      case (_?, true?): .optional
      case (_?, _): .required
      }
    return ClusterAnnouncement(
      authentication: authentication, hasPolicy: configuration?.compiledPolicy != nil,
      host: Self.hostName)
  }

  func serverJoined(_ server: String, _ presence: ValueObject) {
    logger?.notice(
      "server joined the cluster", metadata: Self.metadata(server, presence))
  }

  func serverLeft(_ server: String, _ presence: ValueObject, _ why: String) {
    logger?.notice(
      "server left the cluster",
      metadata: Self.metadata(server, presence).merging(["reason": "\(why)"]) { one, _ in one })
  }

  private static func metadata(_ server: String, _ presence: ValueObject) -> Logger.Metadata {
    ["server": "\(server)", "host": "\(presence["host"]?.string ?? "")"]
  }

  func restore(_ stored: StoredSession, on loop: (any EventLoop)?) async {
    guard let sessionServer else { return }
    let loopSessions =
      loop.flatMap { loop in sessionServer.sessionsByLoop.first { $0.loop === loop } }
      ?? sessionServer.nextLoopSessions
    await loopSessions?.restore(stored)
  }

  /// The host name of this machine, for people (gethostname(2)).
  private static let hostName = String(unsafeUninitializedCapacity: 256) { bytes in
    bytes.withMemoryRebound(to: CChar.self) { name in
      guard let start = name.baseAddress, gethostname(start, name.count) == 0 else { return 0 }
      return strnlen(start, name.count)
    }
  }

  func presence() async -> ValueObject {
    guard let sessionServer else { return [:] }
    // Runs each second: nothing here may grow with the number of sessions.
    var members = announcement.members
    members["version"] = .string(ServerSoftware.version)
    members["since"] = .integer(sessionServer.startTime)
    members["draining"] = .bool(sessionServer.isDraining || sessionServer.isStarting)
    members["sessions"] = .integer(Int64(sessionServer.sessionCount))
    members["clients"] = .integer(Int64(sessionServer.directory.clientCount))
    members["policy"] = .string(sessionServer.policyVersions.current)
    members["hosts"] = .integer(Int64(sessionServer.serverHosts.generation))
    if let keysHash = sessionServer.configuration.keysHash {
      members["keys"] = .string(await keysHash())
    }
    if let stamp = sessionServer.configuration.router.snapshot().table {
      members["table"] = stamp.value
    }
    let linkCount = sessionServer.unclaimedLinks.withLock { $0.count }
    if linkCount > 0 { members["links"] = .integer(Int64(linkCount)) }
    if let clusterTable = sessionServer.clusterTable {
      members["tableRevision"] = .integer(Int64(clamping: await clusterTable.revision))
    }
    if let relays = sessionServer.cluster?.relayCounts {
      members["relays"] = [
        "in": .integer(Int64(relays.accepted)), "out": .integer(Int64(relays.owned)),
      ]
    }
    return members
  }

  func accept(_ request: RelayRequest, _ output: RelayOutput) -> RelayChannel? {
    guard let sessionServer, !sessionServer.isStarting,
      let loopSessions = sessionServer.loopSessions(ofSession: request.session)
        ?? sessionServer.nextLoopSessions
    else { return nil }
    return RelayChannel(
      loopSessions.loop, maxBacklog: loopSessions.limits.maxBacklog, send: output.send,
      onEnd: output.onEnd
    ) { [weak loopSessions] channel, acceptTime in
      guard let loopSessions else { return channel.close(.drain, "the server is shutting down") }
      let connection = Connection(
        AcceptedConnection(
          channel, request.handshake, on: loopSessions, isRelayed: true, acceptTime: acceptTime))
      channel.attach(connection)
      connection.begin()
    }
  }

  func handle(
    _ method: String, _ params: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    guard let sessionServer else { throw CallError(.unavailable, "The server is shutting down") }
    let context = PeerContext(dispatch: SessionDispatch(sessionServer), report: progress)
    return try await PeerMethods.perform(method, params, in: context)
  }

  func receivedPresence(_ presence: ValueObject, of server: String) {
    let hosts = presence["hosts"]?.integer ?? 0
    let isKnown = knownHostGenerations.withLock { known in
      if known[server] == hosts { return true }
      known[server] = hosts
      return false
    }
    if !isKnown { Task { await fetchHosts(of: server) } }
    if !hasRequestedRetained.exchange(true, ordering: .relaxed) {
      Task { await fetchRetainedEvents() }
    }
    if let clusterTable = sessionServer?.clusterTable,
      let revision = presence["tableRevision"]?.integer
    {
      Task { try? await clusterTable.update(to: UInt64(clamping: revision)) }
    }
  }

  func serverLost(_ server: String) {
    knownHostGenerations.withLock { $0[server] = nil }
    guard let sessionServer else { return }
    let router = sessionServer.configuration.router.snapshot()
    sessionServer.serverHosts.replaceHosts(
      [], of: server, router: router, within: sessionServer.budget)
  }

  /// Fetches the hosts that the clients of another server have registered for all sessions.
  private func fetchHosts(of server: String) async {
    guard let sessionServer else { return }
    do throws(CallError) {
      let response = try await SessionDispatch(sessionServer).send(HostsQuery(), to: server)
      let limit = sessionServer.configuration.limits.maxHosts
      var hosts: [(member: RemoteHost, isAway: Bool, definitions: [SessionHostDefinition])] = []
      for host in response.hosts {
        guard let definitions = try? SessionHostDefinition.parse(host.hosts, limit: limit) else {
          reportFailure("a host of the server \(server) cannot be read and is ignored")
          continue
        }
        hosts.append(
          (
            RemoteHost(server: server, session: host.session, client: host.client),
            host.isAway, definitions
          ))
      }
      // A response that was overtaken, or comes from a server that has left, is outdated.
      let generation = response.generation
      guard others.contains(server),
        knownHostGenerations.withLock({ ($0[server] ?? 0) <= generation })
      else { return }
      let rejections = sessionServer.serverHosts.replaceHosts(
        hosts, of: server, router: sessionServer.configuration.router.snapshot(),
        within: sessionServer.budget)
      if let rejection = rejections.first {
        logger?.warning(
          "hosts of another server rejected",
          metadata: ["server": "\(server)", "reason": "\(rejection.message)"])
      }
    } catch {
      // They are requested again with its next presence.
      knownHostGenerations.withLock { $0[server] = nil }
    }
  }

  func fence() async {
    for loopSessions in sessionServer?.sessionsByLoop ?? [] {
      await loopSessions.fence(untilVerified: true)
    }
  }

  func persistAll() async throws {
    for loopSessions in sessionServer?.sessionsByLoop ?? [] { try await loopSessions.persistAll() }
  }

  func verify() async throws {
    for loopSessions in sessionServer?.sessionsByLoop ?? [] { try await loopSessions.verify() }
  }

  /// Fetches the events that the others retain for later subscribers.
  private func fetchRetainedEvents() async {
    guard let sessionServer else { return }
    for server in others {
      guard
        let events = try? await SessionDispatch(sessionServer).send(
          RetainedEventsQuery(), to: server)
      else { continue }
      for loopSessions in sessionServer.sessionsByLoop {
        await loopSessions.retain(peerValues: events)
      }
      return
    }
    // The next server that sends its presence receives the request.
    hasRequestedRetained.store(false, ordering: .relaxed)
  }
}

extension SessionDispatch {
  /// Joins the cluster, if there is one, and restores the stored sessions, before connections are
  /// accepted. Throws if the cluster or the store cannot be used. A session that cannot be read stays in
  /// the store, and is reported to the event sink.
  package func restore() async throws {
    guard let store = sessionServer.store, let first = sessionServer.sessionsByLoop.first else {
      return
    }
    let allLoopSessions = sessionServer.sessionsByLoop
    if let cluster {
      sessionServer.serverHosts.setChangeHandler { [weak cluster] in cluster?.publishPresence() }
      try await cluster.begin(ClusterDelegate(of: sessionServer), on: first.loop)
      if !cluster.engine.protectsMessages {
        sessionServer.configuration.logger?.warning(
          "messages between the servers of the cluster are not protected",
          metadata: ["reason": "the cluster has no secret"])
      }
      try await sessionServer.clusterTable?.begin()
      for loopSessions in allLoopSessions { await loopSessions.monitorLease() }
    }
    let storedSessions = try await store.load()
    cluster?.counts.takenOverAtStart.add(storedSessions.count)
    cluster?.scheduleOrphanAdoption()
    for (number, stored) in storedSessions.enumerated() {
      await allLoopSessions[number % allLoopSessions.count].restore(stored)
    }
    sessionServer.beginServing()
    cluster?.publishPresence()
  }
}

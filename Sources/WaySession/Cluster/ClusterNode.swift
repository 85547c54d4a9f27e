import Synchronization
import WayTransport
import WayValues

/// This server as a node of its cluster. It tracks the other servers, dispatches their messages,
/// and sends its own presence to them. May be used on any thread.
package final class ClusterNode: Sendable {
  /// What a node needs of its server.
  protocol NodeDelegate: SessionFinder.FinderDelegate {
    /// Returns the presence that this server sends to the others.
    func presence() async -> ValueObject
    /// Another server has sent its presence.
    func receivedPresence(_ presence: ValueObject, of server: String)
    /// A server has joined, with its presence.
    func serverJoined(_ server: String, _ presence: ValueObject)
    /// A server has left, and why.
    func serverLeft(_ server: String, _ presence: ValueObject, _ why: String)
    /// Another server is down, or cannot be reached.
    func serverLost(_ server: String)
    /// Accepts a connection that another server has accepted and relays here.
    func accept(_ request: RelayRequest, _ output: RelayOutput) -> RelayChannel?
    /// Handles a request of another server.
    func handle(
      _ method: String, _ params: Value, _ progress: @escaping @Sendable (Value) -> Void
    ) async throws(CallError) -> Value
    /// What this server tells the others when it joins.
    var announcement: ClusterAnnouncement { get }
    /// Reports that another server differs from this one for longer than a rolling update may take.
    func reportDifference(_ subject: ClusterAgreement.AgreementSubject, to server: String)
    /// Reports a message that was rejected, and why.
    func reportRejectedMessage(_ reason: String)
    /// Reports that this server no longer serves, because it must not share sessions with another
    /// one.
    func reportConflict(_ conflict: ClusterConflict)
    /// Reports that this server waits before it joins, and what for.
    func reportJoinDelay(_ reason: String)
    /// Reports an operation that has failed and will be retried.
    func reportFailure(_ reason: String)
    /// Stops all messages of sessions that other servers may have taken over, until ``verify()``.
    /// ``ClusterNode/rejectionReason`` says why.
    func fence() async
    /// Stores all sessions again. Throws if that fails.
    func persistAll() async throws
    /// Finds out which sessions this server still owns, after it has rejoined the cluster. Throws
    /// if that fails.
    func verify() async throws
  }

  /// How often a server sends heartbeats and checks its peers.
  static let heartbeatInterval: Duration = .seconds(1)
  /// How long changes of the presence are collected before they are sent.
  private static let presenceDelay: Duration = .milliseconds(20)
  /// How long the sessions of a server that is down are left to their clients before another server
  /// adopts them.
  private static let orphanGracePeriod: Duration = .seconds(5)

  package let engine: any ClusterEngine
  /// The name of this server, unique among all servers that ever ran.
  package let server: String
  package let counts = SessionClusterCounts()
  let relays: Relays
  let peerRequests: SessionPeerRequests
  let finder: SessionFinder
  private let peerTable: Locked<PeerTable>
  private let store: SessionStoreQueue
  private let peerSender: PeerSender
  private let state: Locked<NodeState>

  private struct NodeState {
    var delegate: (any NodeDelegate)?
    var loop: (any EventLoop)?
    var timer: (any ScheduledWork)?
    var lastTick: UInt64 = 0
    var hasEnded = false
    var membership = NodeMembership.joined
    /// Whether a task makes this server join again and serve again.
    var isRecovering = false
    /// The presence of this server that was sent last.
    var ownPresence: ValueObject = [:]
    var agreement = ClusterAgreement()
    var introductions = PeerIntroductions()
    /// Whether the presence is about to be sent.
    var isPresenceScheduled = false
    /// Servers that may be down; a task checks each of them.
    var suspectedServers: Set<String> = []
    /// How often storing all sessions again was requested since it was last complete.
    var persistAllRequests = 0
  }

  /// Whether this server takes part in the cluster.
  private enum NodeMembership {
    case joined
    /// It was declared down, and joins again.
    case rejoining
    /// It has withdrawn because of a conflict, and joins again when there is none any more. It tells
    /// the others that it has left. Then it sends them nothing, and ignores their messages.
    case excluded(ClusterConflict)
  }

  init(_ engine: any ClusterEngine, _ server: String, _ store: SessionStoreQueue) {
    self.engine = engine
    self.server = server
    self.store = store
    let peerTable = Locked(PeerTable())
    self.peerTable = peerTable
    let peerSender = PeerSender(engine, server, peerTable)
    self.peerSender = peerSender
    relays = Relays { peerSender.send(.relay($0), to: $1) }
    peerRequests = SessionPeerRequests { peerSender.send($0, to: $1) }
    finder = SessionFinder(engine, server, peerTable, store, counts)
    state = Locked(NodeState())
  }

  /// Joins the cluster. Throws if the engine cannot be used.
  func begin(_ delegate: any NodeDelegate, on loop: any EventLoop) async throws {
    state.withLock { state in
      state.delegate = delegate
      state.loop = loop
      state.lastTick = loop.nanoseconds
    }
    peerSender.begin(loop)
    await finder.begin(delegate)
    try await engine.join(
      as: server, delegate.announcement,
      ClusterHandlers(
        leaseRenewed: { [weak self] in self?.publishPresenceNow() },
        declaredDown: { [weak self] in self?.endMembership(as: .rejoining) },
        joinDelayed: { [weak self] in self?.delegate?.reportJoinDelay($0) },
        conflictFound: { [weak self] in self?.endMembership(as: .excluded($0)) },
        messageReceived: { [weak self] in self?.receive($0) },
        messageRejected: { [weak self] in self?.handleRejectedMessage($0) },
        unconfirmedSender: { [weak self] in self?.introduce(to: $0) },
        messagesLost: { [weak self] in self?.handleMessageLoss() },
        storageOutdated: { [weak self] in self?.persistAll() }))
    tick()
  }

  /// Leaves the cluster, so that no other server waits for this one.
  func end() async {
    state.withLock { state in
      state.hasEnded = true
      state.timer?.cancel()
    }
    peerSender.send(presence: ["left": true])
    for (server, _) in others { drop(server) }
    await engine.leave()
  }

  /// The other servers that are up, with their presence.
  package var others: [(server: String, presence: ValueObject)] {
    peerTable.withLock { $0.present }
  }

  /// Another server that accepts new sessions while this one shuts down; nil if there is none.
  var successor: String? {
    guard let now = loop?.nanoseconds else { return nil }
    return peerTable.withLock { $0.successor(at: now) }
  }

  /// How many other servers have another policy now, and how many have other keys of tokens.
  package var differingServers: (policy: Int, keys: Int) {
    state.withLock { ($0.agreement.count(of: .policy), $0.agreement.count(of: .keys)) }
  }

  /// The conflict because of which this server no longer serves; nil if there is none.
  package var conflict: ClusterConflict? {
    state.withLock { state in
      if case .excluded(let conflict) = state.membership { conflict } else { nil }
    }
  }

  /// Why connections are rejected now; nil if they are accepted.
  package var rejectionReason: ClusterRejectionReason? {
    let (membership, isRecovering) = state.withLock { ($0.membership, $0.isRecovering) }
    switch membership {
    case .excluded: return .conflict
    case .rejoining: return .declaredDown
    case .joined:
      guard remainingLease == .zero else { return isRecovering ? .verification : nil }
      return engine.isReachable ? .leaseExpired : .engineUnreachable
    }
  }

  /// How many connections are relayed now: outgoing ones of this server's clients to sessions of
  /// other servers, and incoming ones to its sessions.
  package var relayCounts: (accepted: Int, owned: Int) { relays.counts }

  /// How many connections were relayed so far, and how many messages in both directions.
  package var relayTotals: (relays: Int, messages: Int) { relays.totals }

  /// How long this server may treat its sessions as its own if it does not renew its lease.
  package var remainingLease: Duration {
    let ends = engine.leaseValidity.expiresAt
    guard let now = loop?.nanoseconds, ends > now else { return .zero }
    return .nanoseconds(Int64(clamping: ends - now))
  }

  private var loop: (any EventLoop)? { state.withLock { $0.loop } }
  private var delegate: (any NodeDelegate)? { state.withLock { $0.delegate } }

  /// Sends the presence to all other servers, together with other changes of the next moment.
  func publishPresence() {
    let isFirst = state.withLock { state in
      defer { state.isPresenceScheduled = true }
      return !state.isPresenceScheduled
    }
    guard isFirst, let loop else { return }
    _ = loop.schedule(after: Self.presenceDelay) { [weak self] in
      self?.state.withLock { $0.isPresenceScheduled = false }
      self?.publishPresenceNow()
    }
  }

  /// The presence of this server.
  func presence() async -> ValueObject { await delegate?.presence() ?? [:] }

  private func publishPresenceNow() {
    Task { await sendPresence(to: nil) }
  }

  /// Sends the presence to one server, or to all. `needsResponse` if that server must send its own
  /// presence to this one.
  private func sendPresence(to other: String?, needsResponse: Bool = false) async {
    var presence = await presence()
    guard conflict == nil else { return }
    state.withLock { [presence] in $0.ownPresence = presence }
    presence["renewal"] = .integer(Int64(clamping: engine.renewalCount))
    if needsResponse { presence["respond"] = true }
    peerSender.send(presence: presence, to: other)
  }

  /// Sends a request to another server. Fails as
  /// ``SessionPeerRequests/request(_:_:_:within:on:progress:)``.
  func request(
    _ server: String, _ method: String, _ params: Value, within time: Duration,
    progress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Value {
    guard let loop else { throw CallError(.unavailable, "The server has not started") }
    guard conflict == nil else {
      throw CallError(
        .unavailable,
        "Other servers cannot be reached: \(ClusterRejectionReason.conflict.text)")
    }
    counts.requestsSent.add()
    return try await peerRequests.request(
      server, method, params, within: time, on: loop, progress: progress)
  }

  /// Sends a request to all other servers at once, and returns the response of each.
  func requestOthers(
    _ method: String, _ params: Value, within time: Duration
  ) async -> [PeerResponse<Value>] {
    await withTaskGroup(of: PeerResponse<Value>.self) { group in
      for (server, _) in others {
        group.addTask { await self.peerResponse(server, method, params, within: time) }
      }
      var responses: [PeerResponse<Value>] = []
      for await response in group { responses.append(response) }
      return responses.sorted { $0.server < $1.server }
    }
  }

  private func peerResponse(
    _ server: String, _ method: String, _ params: Value, within time: Duration
  ) async -> PeerResponse<Value> {
    do throws(CallError) {
      let value = try await request(server, method, params, within: time)
      return PeerResponse(server: server, result: .success(value))
    } catch {
      return PeerResponse(server: server, result: .failure(error))
    }
  }

  private func tick() {
    guard let loop else { return }
    let now = loop.nanoseconds
    let isLate = state.withLock { state in
      defer { state.lastTick = now }
      return now - state.lastTick > PeerTable.freshnessLimit
    }
    let silent = peerTable.withLock { peerTable in
      if isLate { peerTable.resetSilence(until: now) }
      return peerTable.removeSilent(at: now)
    }
    for (server, presence) in silent {
      delegate?.serverLeft(
        server, presence, "it was silent for \(PeerTable.silenceTimeout / 1_000_000_000) s")
      drop(server)
    }
    let others = self.others
    let overdue = state.withLock { state in
      // Nothing was sent before the first presence.
      state.ownPresence.isEmpty ? [] : state.agreement.update(state.ownPresence, others, at: now)
    }
    for difference in overdue {
      delegate?.reportDifference(difference.subject, to: difference.server)
    }
    for server in peerTable.withLock({ $0.dequeueHeartbeats() }) {
      peerSender.send(.heartbeat, to: server, needsHeartbeats: false)
    }
    let timer = loop.schedule(after: Self.heartbeatInterval) { [weak self] in self?.tick() }
    state.withLock { $0.timer = $0.hasEnded ? nil : timer }
  }

  /// Ends all that is in progress between this server and another, which may be up or down.
  private func drop(_ server: String) {
    disconnect(from: server)
    confirmDown(server)
  }

  private func disconnect(from server: String) {
    relays.drop(server)
    peerRequests.drop(server)
    delegate?.serverLost(server)
  }

  /// Waits until another server is down for certain, then adopts those of its sessions that no
  /// client has resumed.
  private func confirmDown(_ server: String) {
    if state.withLock({ $0.hasEnded || !$0.suspectedServers.insert(server).inserted }) { return }
    Task { [weak self] in
      while let self, !self.state.withLock({ $0.hasEnded }) {
        let isBack = self.peerTable.withLock { $0.presence(of: server) != nil }
        let isDown = isBack ? false : (try? await self.engine.isDown(server)) == true
        if isBack || isDown {
          if isDown {
            try? await Task.sleep(for: Self.orphanGracePeriod)
            await self.adoptOrphans()
          }
          _ = self.state.withLock { $0.suspectedServers.remove(server) }
          return
        }
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
  }

  /// Checks servers that own sessions according to the store and have sent no presence yet.
  func suspect(_ servers: some Sequence<String>) {
    for server in servers where server != self.server { confirmDown(server) }
  }

  /// Schedules the adoption of orphaned sessions, after the first read of the sessions of other
  /// servers.
  func scheduleOrphanAdoption() {
    // A server that has ended a moment ago is not yet known to be down.
    Task { [weak self] in
      try? await Task.sleep(for: Self.orphanGracePeriod * 3)
      await self?.adoptOrphans()
    }
  }

  /// Takes over the sessions that have no owner. Retries until the engine allows it.
  private func adoptOrphans() async {
    while let delegate, let loop, !delegate.isDraining, !state.withLock({ $0.hasEnded }) {
      // A server without a lease would lose the session to another server at once.
      guard !engine.leaseValidity.hasExpired(at: loop.nanoseconds) else {
        try? await Task.sleep(for: .seconds(1))
        continue
      }
      do {
        return suspect(
          try await store.takeOverAll { [counts] stored in
            counts.takenOverAsOrphans.add()
            await delegate.restore(stored, on: nil)
          })
      } catch {
        delegate.reportFailure(
          "sessions of failed servers cannot be taken over yet: \(error)")
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Resets the state of all peers, since messages of any of them may be missing.
  private func handleMessageLoss() {
    for (server, _) in others { resetPeer(server, isNotified: false) }
  }

  private func resetPeer(_ server: String, isNotified: Bool) {
    relays.drop(server)
    peerRequests.drop(server)
    if !isNotified { peerSender.send(.reset, to: server) }
  }

  /// Stores all sessions again, also idle ones, whose stored data may be lost or outdated too.
  private func persistAll() {
    let isFirst = state.withLock { state in
      state.persistAllRequests += 1
      return state.persistAllRequests == 1
    }
    guard isFirst else { return }
    Task {
      var served = 0
      repeat {
        served = state.withLock { $0.persistAllRequests }
        await retryUntilSuccess { try await $0.persistAll() }
      } while state.withLock { state in
        // A request in the meantime may be about sessions that were stored before it.
        guard state.persistAllRequests == served else { return true }
        state.persistAllRequests = 0
        return false
      }
    }
  }

  /// Ends the membership of this server, so that other servers take over its sessions, and makes it
  /// join again as soon as that is possible. Does nothing if it is no member.
  private func endMembership(as membership: NodeMembership) {
    let (isMember, isRecovering) = state.withLock { state in
      guard case .joined = state.membership else { return (false, false) }
      state.membership = membership
      defer { state.isRecovering = true }
      return (true, state.isRecovering)
    }
    guard isMember else { return }
    if case .excluded(let conflict) = membership { delegate?.reportConflict(conflict) }
    if !isRecovering { Task { await recover() } }
  }

  /// Makes this server join again, and then serve again. The membership may end while it does so.
  private func recover() async {
    repeat {
      await delegate?.fence()
      if conflict != nil {
        await engine.withdraw()
        leavePeers()
      }
      await rejoin()
      await retryUntilSuccess { delegate in
        guard case .joined = state.withLock({ $0.membership }) else { return }
        try await delegate.verify()
      }
    } while !hasRecovered
    publishPresence()
  }

  /// Whether this server serves again, or ends. Otherwise its membership has ended again.
  private var hasRecovered: Bool {
    let isReleased = delegate == nil
    return state.withLock { state in
      if case .joined = state.membership {
        state.isRecovering = false
        return true
      }
      return state.hasEnded || isReleased
    }
  }

  /// Joins again as soon as that is possible.
  private func rejoin() async {
    await retryUntilSuccess { delegate in
      do {
        try await engine.rejoin(delegate.announcement) { [weak self] in
          self?.state.withLock { $0.membership = .joined }
        }
      } catch let conflict as ClusterConflict {
        exclude(because: conflict)
        throw conflict
      }
    }
  }

  /// Records why this server may not join again.
  private func exclude(because conflict: ClusterConflict) {
    let isKnown = state.withLock { state in
      defer { state.membership = .excluded(conflict) }
      if case .excluded(conflict) = state.membership { return true }
      return false
    }
    guard !isKnown else { return }
    delegate?.reportConflict(conflict)
    leavePeers()
  }

  /// Tells the other servers that this one has left, and ends all that is in progress with them.
  private func leavePeers() {
    peerSender.send(presence: ["left": true])
    for (server, _) in others {
      peerTable.withLock { $0.remove(server) }
      disconnect(from: server)
    }
  }

  /// Repeats an operation until it succeeds, or the server ends.
  private func retryUntilSuccess(_ work: (any NodeDelegate) async throws -> Void) async {
    while let delegate, !state.withLock({ $0.hasEnded }) {
      do { return try await work(delegate) } catch {
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
  }
}

// Incoming messages.
extension ClusterNode {
  private func receive(_ bytes: [UInt8]) {
    let envelope: ClusterEnvelope
    do throws(ByteDecodingError) {
      envelope = try ClusterEnvelope(bytes)
    } catch {
      // The sender is a server of another version, or does not belong to the cluster.
      counts.unreadableMessages.add()
      return
    }
    guard envelope.sender != server, conflict == nil, let loop else { return }
    if case .presence(let value) = envelope.message {
      return receivePresence(value.object ?? [:], from: envelope.sender, at: loop.nanoseconds)
    }
    let isMissing = peerTable.withLock {
      $0.receive(envelope.number, from: envelope.sender, at: loop.nanoseconds)
    }
    if isMissing { resetPeer(envelope.sender, isNotified: false) }
    receive(envelope.message, from: envelope.sender)
  }

  private func handleRejectedMessage(_ reason: String) {
    counts.rejectedMessages.add()
    delegate?.reportRejectedMessage(reason)
  }

  /// Requests a message to this server alone from another one, whose messages to all are ignored
  /// until then. Those may be repeated by another program, so requests are limited.
  private func introduce(to server: String) {
    guard server != self.server, let now = loop?.nanoseconds else { return }
    let isDue = state.withLock { $0.introductions.record(server, at: now) }
    if isDue { Task { await sendPresence(to: server, needsResponse: true) } }
  }

  private func receivePresence(_ presence: ValueObject, from sender: String, at now: UInt64) {
    if presence["left"] == true {
      let last = peerTable.withLock { peerTable in
        defer { peerTable.remove(sender) }
        return peerTable.presence(of: sender)
      }
      if let last { delegate?.serverLeft(sender, last, "it has ended") }
      return drop(sender)
    }
    var presence = presence
    let needsResponse = presence["respond"] == true
    presence["respond"] = nil
    engine.updatePeer(sender, renewalCount: UInt64(clamping: presence["renewal"]?.integer ?? 0))
    let isNew = peerTable.withLock { $0.receivePresence(presence, from: sender, at: now) }
    delegate?.receivedPresence(presence, of: sender)
    if needsResponse { Task { await sendPresence(to: sender) } }
    // A new server receives the presence of this one at once.
    if isNew {
      delegate?.serverJoined(sender, presence)
      publishPresence()
    }
  }

  private func receive(_ message: SessionClusterMessage, from sender: String) {
    switch message {
    case .presence, .heartbeat: break
    case .reset: resetPeer(sender, isNotified: true)
    case .request(let id, let method, let params):
      peerRequests.handle(id, from: sender) { [weak self] progress throws(CallError) in
        guard let delegate = self?.delegate else {
          throw CallError(.unavailable, "The server is shutting down")
        }
        return try await delegate.handle(method, params, progress)
      }
    case .progress(let id, let value):
      peerRequests.receive(progress: value, of: id, from: sender)
    case .response(let id, let result): peerRequests.receive(response: result, of: id, from: sender)
    case .cancel(let id): peerRequests.cancel(id, from: sender)
    case .relay(let message):
      relays.receive(message, from: sender) { delegate?.accept($0, $1) }
    case .fragment(let bytes, let isLast):
      guard peerTable.withLock({ $0.addFragment(bytes, from: sender) }) else {
        return resetPeer(sender, isNotified: false)
      }
      guard isLast else { return }
      let whole = peerTable.withLock { $0.removeFragments(from: sender) }
      guard let message = try? SessionClusterMessage(ByteReader(whole)), !message.isFragment else {
        counts.unreadableMessages.add()
        return
      }
      receive(message, from: sender)
    }
  }
}

import WaySession
import WayStore
import WayTransport
import WayValues

/// Stores sessions in NATS with JetStream, for any number of servers. Each session is owned by one
/// server; another takes it over when that server is down.
///
/// Each change of a session is a message on the session's own subject in one stream. It is written
/// after the last message that the owner knows of, so a former owner is rejected or ignored. A
/// change for which ``append(_:)`` has returned survives a crash of the server. With three
/// nats-servers (replicas) it also survives a crash of a nats-server. It survives a power failure
/// of all nats-servers as far as nats-server has written to its disks (`sync_interval`).
///
/// Writes run on a thread of its own, in the order of the calls. Sessions to take over are read on
/// another thread; a write in the meantime makes the takeover fail.
package actor JetStreamSessionStore: SharedSessionStore {
  /// Sessions that are taken over in one turn, and bytes of logs that are read for it at once.
  private static let maxTakeOverBatch = 256
  private static let maxReadBytes = 256 << 20
  /// Logs of ended sessions that are deleted at once: writes wait meanwhile.
  private static let maxDeletedLogs = 16
  /// The same limit when the store is closed. Other servers delete the remaining logs.
  private static let maxDeletedLogsOnClose = 256
  /// For how many seconds it tries again to read messages that a nats-server does not have yet.
  private static let gapRetrySeconds = 5

  private let queue = SQLiteWorkQueue("waybridge.cluster")
  private let endpoint: String
  private let names: NATSClusterNames
  /// Knows which servers are down.
  private let leases: NATSServerLeases
  private let directory: NATSClusterDirectory
  private let reader: JetStreamSessionLogReader
  /// Called if NATS has lost data that it had acknowledged.
  private let dataLost: @Sendable () -> Void
  /// The logs of the sessions that this server owns; nil once the store is closed.
  private var logWriter: JetStreamSessionLogWriter?
  private var owner = ""
  /// Whether deletion of remaining logs of ended sessions is scheduled.
  private var isDeletionScheduled = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Connects to NATS, and creates the stream of sessions if there is none; blocks meanwhile.
  init(
    _ configuration: NATSClusterConfiguration, _ leases: NATSServerLeases,
    _ directory: NATSClusterDirectory,
    dataLost: @escaping @Sendable () -> Void
  ) throws(NATSClusterError) {
    let leaseValidity = leases.leaseValidity
    let logWriter = try JetStreamSessionLogWriter(configuration) {
      // Data that is lost after that counts as another loss.
      let losses = leaseValidity.counts.losses
      return leaseValidity.hasExpired(at: NATSClusterClock.nanoseconds) ? nil : losses
    }
    self.dataLost = dataLost
    names = configuration.names
    endpoint = logWriter.endpoint
    self.logWriter = logWriter
    self.leases = leases
    self.directory = directory
    reader = JetStreamSessionLogReader(configuration)
  }

  package func load(as owner: String) async throws -> [StoredSession] {
    self.owner = owner
    // The sessions that it owned before have no owner now.
    try openLogWriter().removeAll()
    let loaded = Locked<[StoredSession]>([])
    _ = try await takeOverAll { session in loaded.withLock { $0.append(session) } }
    return loaded.withLock { $0 }
  }

  package func takeOverAll(
    _ restore: @Sendable (StoredSession) async -> Void
  ) async throws -> Set<String> {
    try openLogWriter().detectStreamReset()
    let summaries = try await reader.readSummaries()
    let downServers = try await self.downServers(of: summaries)
    let owners = Self.owners(of: summaries)
    try openLogWriter().markEnded(summaries.lazy.filter(\.hasEnded))
    deleteEndedLogs()
    let available = summaries.filter { canTakeOver($0, downServers) }
    var incomplete: [JetStreamSessionLogState] = []
    for group in Self.batches(available) { incomplete += try await takeOver(group, restore) }
    // A nats-server that is behind the others catches up within some seconds. Sessions that still
    // have gaps then are taken over when a client asks for them.
    for _ in 0..<Self.gapRetrySeconds where !incomplete.isEmpty {
      try await Task.sleep(for: .seconds(1))
      incomplete = try await takeOver(incomplete.map(\.id), restore)
    }
    return owners.subtracting(downServers).subtracting([owner])
  }

  /// The owners of the sessions that have one.
  private static func owners(of sessions: [JetStreamSessionLogState]) -> Set<String> {
    Set(sessions.compactMap { $0.hasEnded || $0.isReleased ? nil : $0.lease?.owner })
  }

  /// Returns the owners of the given sessions that are down.
  private func downServers(of sessions: [JetStreamSessionLogState]) async throws -> Set<String> {
    var downServers: Set<String> = []
    for other in Self.owners(of: sessions) where other != owner {
      if try await leases.isDown(other) { downServers.insert(other) }
    }
    return downServers
  }

  /// Takes sessions over and passes them on; returns those whose logs have gaps.
  private func takeOver(
    _ group: [UTF8Key], _ restore: @Sendable (StoredSession) async -> Void
  ) async throws -> [JetStreamSessionLogState] {
    let sessions = try await reader.read(group)
    // Another server may have taken over a session since it was found to have no owner, or its
    // owner may be up again. A message that such a server writes after this read makes the takeover
    // fail.
    let downServers = try await self.downServers(of: sessions)
    let complete = sessions.filter { !$0.hasGaps && canTakeOver($0, downServers) }
    for start in stride(from: 0, to: complete.count, by: Self.maxTakeOverBatch) {
      let batch = complete[start..<min(start + Self.maxTakeOverBatch, complete.count)]
      for session in try claim(batch) { await restore(session) }
    }
    return sessions.filter(\.hasGaps)
  }

  /// Throws if messages of the session's log are missing.
  private func checkComplete(_ session: JetStreamSessionLogState) throws(NATSClusterError) {
    guard session.hasGaps else { return }
    throw NATSClusterError(
      endpoint, "messages of the session \(session.id.text) are missing",
      advice:
        "wait if a nats-server is behind the others; if all are in step, the messages are lost: "
        + "\(NATSClusterError.deletionAdvice(session.id.text, names))")
  }

  /// Groups of sessions to read together, so that the size of their logs is limited. A group has at
  /// least one.
  private static func batches(_ sessions: [JetStreamSessionLogState]) -> [[UTF8Key]] {
    var groups: [[UTF8Key]] = []
    var size = 0
    for session in sessions {
      if groups.isEmpty || size + session.byteCount > maxReadBytes {
        groups.append([])
        size = 0
      }
      groups[groups.count - 1].append(session.id)
      size += session.byteCount
    }
    return groups
  }

  package func takeOver(_ session: String) async throws -> StoredSession? {
    guard let state = try await directory.log(of: session) else { return nil }
    try checkComplete(state)
    if let reason = state.unreadableReason {
      throw NATSClusterError(
        endpoint, reason, advice: NATSClusterError.advice(toRead: session, names))
    }
    guard !state.hasEnded, let last = state.lease else { return nil }
    if !isAvailable(state) {
      guard last.owner != owner, try await leases.isDown(last.owner) else { return nil }
    }
    return try claim([state]).first
  }

  /// Whether a session can be taken over, or cannot be read, if the given servers are down.
  private func canTakeOver(_ session: JetStreamSessionLogState, _ downServers: Set<String>) -> Bool
  {
    if session.unreadableReason != nil { return true }
    guard let lease = session.lease, !session.hasEnded else { return false }
    return isAvailable(session) || downServers.contains(lease.owner)
  }

  /// Whether a session was released, or belongs to this server although it does not know it: the
  /// response that confirmed a takeover was lost.
  private func isAvailable(_ session: JetStreamSessionLogState) -> Bool {
    session.isReleased || (session.lease?.owner == owner && logWriter?.owns(session.id) != true)
  }

  /// Takes over sessions without an owner, as they were read. The result does not include those
  /// that another server has taken over since, or whose owner was up after all. A session that
  /// cannot be read is returned with the reason, and left. If NATS does not report the
  /// results, the sessions still have no owner.
  private func claim(_ sessions: some Collection<JetStreamSessionLogState>) throws
    -> [StoredSession]
  {
    let newLeases = try openLogWriter().takeOver(
      sessions.filter { $0.unreadableReason == nil && !$0.hasEnded }, for: owner)
    return sessions.compactMap { session in
      if let reason = session.unreadableReason {
        var unreadable = StoredSession(
          id: session.id.text, lease: SessionLease(owner: "", term: 0), parts: [:])
        unreadable.unreadableReason = reason
        return unreadable
      }
      return newLeases[session.id].map { lease in
        StoredSession(
          id: session.id.text, lease: lease, parts: session.parts.all,
          isComplete: session.isReleased)
      }
    }
  }

  @discardableResult
  package func append(_ changes: [SessionChange]) throws -> Set<String> {
    defer { if logWriter?.consumeDataLoss() == true { dataLost() } }
    do {
      let longLogs = try openLogWriter().append(changes)
      deleteEndedLogs()
      return longLogs
    } catch {
      scheduleDeletion(after: .seconds(1))
      throw error
    }
  }

  package func close() {
    _ = try? logWriter?.deleteEndedLogs(atMost: Self.maxDeletedLogsOnClose)
    logWriter = nil
  }

  private func openLogWriter() throws(NATSClusterError) -> JetStreamSessionLogWriter {
    guard let logWriter else { throw NATSClusterError(endpoint, "the store is closed") }
    return logWriter
  }

  /// Deletes the logs of ended sessions. Those that cannot be deleted now are retried later. It
  /// deletes some at a time, so that writes do not wait for all.
  private func deleteEndedLogs() {
    guard !isDeletionScheduled else { return }
    do throws(NATSClusterError) {
      if try logWriter?.deleteEndedLogs(atMost: Self.maxDeletedLogs) == false {
        scheduleDeletion(after: .zero)
      }
    } catch {
      scheduleDeletion(after: .seconds(1))
    }
  }

  private func scheduleDeletion(after time: Duration) {
    guard !isDeletionScheduled else { return }
    isDeletionScheduled = true
    Task { [weak self] in
      try? await Task.sleep(for: time)
      await self?.runScheduledDeletion()
    }
  }

  private func runScheduledDeletion() {
    isDeletionScheduled = false
    deleteEndedLogs()
  }
}

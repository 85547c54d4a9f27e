import WaySession
import WayValues

/// Writes the logs of the sessions that a server owns, in the NATS stream of sessions. Each message
/// is written after the last one that is known here, so that a former owner is rejected, or ignored
/// by readers (``JetStreamSessionLogState``). Confined to one thread at a time; each call blocks.
final class JetStreamSessionLogWriter {
  private let stream: JetStreamSessionLogStream
  /// How often the lease of the server was lost; nil if it has none now.
  private let leaseLosses: () -> Int?
  /// Whether the stream may have been replaced by now.
  private var needsStreamCheck = false
  /// The state of each log.
  private var logs: [UTF8Key: JetStreamSessionLog] = [:]
  /// Whether acknowledged data is lost, until that is reported.
  private var hasLostData = false
  /// Ended sessions whose logs still exist, with the number of the last message of each.
  private var endedLogs: [UTF8Key: UInt64] = [:]

  /// Connects to NATS, and creates the stream of sessions if there is none. `leaseLosses`
  /// returns how often the server's lease was lost so far, and nil if it has none.
  init(
    _ configuration: NATSClusterConfiguration, leaseLosses: @escaping () -> Int?
  ) throws(NATSClusterError) {
    stream = try JetStreamSessionLogStream(configuration)
    self.leaseLosses = leaseLosses
  }

  /// The address of NATS, without user and password.
  var endpoint: String { stream.endpoint }

  /// Whether this server owns a session.
  func owns(_ session: UTF8Key) -> Bool { logs[session] != nil }

  /// Forgets all sessions, which then have no owner.
  func removeAll() { logs = [:] }

  /// Records ended sessions with the numbers of their last messages. The next
  /// ``deleteEndedLogs(atMost:)`` deletes their logs.
  func markEnded(_ ended: some Sequence<JetStreamSessionLogState>) {
    for session in ended { endedLogs[session.id] = session.lastSequence }
  }

  /// Takes over sessions for a server, as they were read. Returns the leases of those that no other
  /// server has taken over since.
  func takeOver(
    _ sessions: [JetStreamSessionLogState], for owner: String
  ) throws(NATSClusterError) -> [UTF8Key: SessionLease] {
    var takeovers: [(session: JetStreamSessionLogState, lease: SessionLease)] = []
    for session in sessions {
      guard let last = session.lease else { continue }
      takeovers.append((session, SessionLease(owner: owner, term: last.term + 1)))
    }
    let results = try stream.publish(
      takeovers.map { (session, lease) throws(NATSClusterError) in
        try stream.publication(of: lease, session.id, after: session.lastSequence)
      })
    if !results.isEmpty { try stream.synchronize() }
    // If NATS does not report one of the results, the others are not returned either: they
    // can be taken over again.
    var logsTakenOver: [UTF8Key: JetStreamSessionLog] = [:]
    for ((session, lease), result) in zip(takeovers, results) {
      guard case .stored(let number) = result,
        try stream.isEffective(number, after: session.lastSequence, of: session.id)
      else { continue }
      logsTakenOver[session.id] = JetStreamSessionLog(
        lease: lease, lastSequence: try stream.confirm(lease, of: session.id, writtenAs: number),
        messageCount: session.messageCount + 1, isOutdated: session.isOutdated,
        leaseLosses: leaseLosses())
    }
    logs.merge(logsTakenOver) { _, new in new }
    return logsTakenOver.mapValues(\.lease)
  }

  /// Returns whether acknowledged data was lost, once for each loss.
  func consumeDataLoss() -> Bool {
    defer { hasLostData = false }
    return hasLostData
  }

  /// Writes the changes; each change of a session is written completely or not at all. Throws
  /// ``NATSClusterError`` if NATS does not accept them, and
  /// `SessionStoreError.leaseLost(sessions:)` for sessions that another server has taken over. In
  /// that case any of the other changes may be stored. Returns the sessions whose logs are long.
  func append(_ changes: [SessionChange]) throws -> Set<String> {
    if needsStreamCheck { try detectStreamReset() }
    // Changes that cannot succeed are not written.
    var lost: Set<UTF8Key> = []
    for change in changes {
      let session = UTF8Key(change.session)
      if let log = logs[session], log.lease != change.lease { lost.insert(session) }
    }
    try checkLeases(lost)
    var batch = JetStreamSessionLogBatch()
    func publish() throws {
      var rejected: Set<UTF8Key> = []
      defer { lost.formUnion(rejected) }
      if try write(batch, &rejected) {
        throw NATSClusterError(
          endpoint,
          hasLostData
            ? "acknowledged data is lost; all sessions are written again"
            : "an unacknowledged change arrived late")
      }
      for released in batch.released where !rejected.contains(released) { logs[released] = nil }
      for ended in batch.ended where !rejected.contains(ended) {
        endedLogs[ended] = logs[ended]?.lastSequence
        logs[ended] = nil
      }
      batch = JetStreamSessionLogBatch()
    }
    do {
      for change in changes {
        let session = UTF8Key(change.session)
        let messages = JetStreamSessionLogEntry.messages(of: change, limit: stream.maxEntry)
        for (index, message) in messages.enumerated() {
          // A message is written after the one before it, whose number is known once that is
          // stored.
          if batch.contains(session) { try publish() }
          guard !lost.contains(session) else { break }
          guard let last = try lastSequence(of: session, change.lease) else {
            lost.insert(session)
            break
          }
          batch.add(
            session, begins: index == 0,
            try stream.publication(
              of: message, session, after: last,
              rollsUp: last > 0 && messages.count == 1 && change.replacesAll))
        }
        if change.isRelease { logs[session]?.markReleased() }
        batch.complete(change)
      }
      try publish()
    } catch {
      needsStreamCheck = true
      // A lost session is reported even if another error has occurred.
      try checkLeases(lost)
      throw error
    }
    compact(changes)
    try checkLeases(lost)
    return Set(
      changes.lazy.map(\.session).filter { self.logs[UTF8Key($0)]?.needsCompaction == true })
  }

  /// Resets the logs if NATS has lost its disk: no server has any of the stored data then.
  /// The logs begin again, with a snapshot of each session once it is passed to the store.
  func detectStreamReset() throws(NATSClusterError) {
    if try stream.detectReplacement() {
      logs = logs.mapValues { JetStreamSessionLog(lease: $0.lease, lastSequence: 0) }
    }
    needsStreamCheck = false
  }

  /// Throws if the stream is not the one that contained the logs.
  private func checkStreamUnchanged() throws(NATSClusterError) {
    guard try stream.isReplaced() else { return }
    needsStreamCheck = true
    throw NATSClusterError(endpoint, "its data is lost; all sessions are written again")
  }

  private func checkLeases(_ lost: Set<UTF8Key>) throws(SessionStoreError) {
    guard lost.isEmpty else { throw .leaseLost(sessions: Set(lost.map(\.text))) }
  }

  /// Returns the number of the last message of a session's log, 0 for a new one; nil if the session
  /// belongs to another server.
  private func lastSequence(
    of session: UTF8Key, _ lease: SessionLease
  ) throws(NATSClusterError) -> UInt64? {
    guard let log = logs[session] else {
      // A new session with the same id has begun.
      try deleteLog(session)
      logs[session] = JetStreamSessionLog(lease: lease, lastSequence: 0)
      return 0
    }
    if let last = log.lastSequence { return last }
    return try verifyOwnership(session, log) ? logs[session]?.lastSequence : nil
  }

  /// Looks up the last message of a session's log, which the next one is written after. Returns
  /// whether the session still belongs to this server; otherwise it is forgotten.
  ///
  /// It does in these cases:
  /// - The message is this server's own, even if it was given up and arrived late.
  /// - No other server can have taken the session over, so that the message is not effective.
  /// - NATS has lost data that it had acknowledged.
  private func verifyOwnership(
    _ session: UTF8Key, _ log: JetStreamSessionLog
  ) throws(NATSClusterError) -> Bool {
    let lastMessage = try stream.latestMessage(of: session)
    if lastMessage == nil, log.acknowledgedSequence > 0 { try checkStreamUnchanged() }
    guard try isOwnLog(lastMessage, log, session) else {
      logs[session] = nil
      return false
    }
    if logs[session]?.setLast(lastMessage?.sequence ?? 0) == true { hasLostData = true }
    return true
  }

  /// Whether a session belongs to this server if its log ends with the given message, or is empty.
  private func isOwnLog(
    _ lastMessage: NATSConnection.StreamMessage?, _ log: JetStreamSessionLog, _ session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    var lastLease: SessionLease?
    if let lastMessage {
      // A message that no server has written is left as it is.
      guard let entry = try? stream.entry(in: lastMessage) else { return false }
      lastLease = entry.lease
    }
    switch log.owner(ifLastLease: lastLease, leaseLosses: leaseLosses()) {
    case .thisServer: return true
    case .otherServer: return false
    case .thisServerIfStored(let number): return try stream.isStored(number, of: session)
    }
  }

  /// Writes messages. Adds the sessions whose messages were rejected to `rejected`, even if it
  /// throws afterwards. Returns whether one conflicted with another message of this server.
  private func write(
    _ batch: JetStreamSessionLogBatch, _ rejected: inout Set<UTF8Key>
  ) throws(NATSClusterError) -> Bool {
    guard !batch.messages.isEmpty else { return false }
    let results: [NATSConnection.PublishResult]
    do throws(NATSClusterError) {
      results = try stream.publish(batch.messages.map(\.publication))
    } catch {
      for message in batch.messages { logs[message.session]?.markUncertain() }
      throw error
    }
    var isLate = false
    for (entry, result) in zip(batch.messages, results) {
      switch result {
      case .stored(let number):
        guard try !isContested(entry, number) else {
          logs[entry.session]?.markUncertain()
          isLate = true
          continue
        }
        logs[entry.session]?.add(
          number, entry.publication.bytes.count, begins: entry.begins, leaseLosses: leaseLosses())
        if entry.publication.rollsUp { logs[entry.session]?.markCompacted() }
      case .conflict:
        logs[entry.session]?.markUncertain()
        if let log = logs[entry.session], try verifyOwnership(entry.session, log) {
          isLate = true
        } else {
          rejected.insert(entry.session)
        }
      }
    }
    return isLate
  }

  /// Whether a message was stored after one of this server's own that was given up and arrived
  /// first.
  private func isContested(
    _ entry: JetStreamSessionLogBatch.BatchMessage, _ number: UInt64
  ) throws(NATSClusterError) -> Bool {
    guard logs[entry.session]?.isContested == true else { return false }
    try stream.synchronize()
    return try !stream.isEffective(
      number, after: entry.publication.previousSequence, of: entry.session)
  }

  /// Deletes the logs of at most `count` ended sessions; returns whether that is all. Throws if
  /// some cannot be deleted: they may be retried.
  func deleteEndedLogs(atMost count: Int = .max) throws(NATSClusterError) -> Bool {
    for session in endedLogs.keys.prefix(count) { try deleteLog(session) }
    return endedLogs.isEmpty
  }

  private func deleteLog(_ session: UTF8Key) throws(NATSClusterError) {
    guard let last = endedLogs[session] else { return }
    try stream.deleteMessages(of: session, through: last)
    endedLogs[session] = nil
  }

  /// Deletes the messages before a change that begins with a snapshot; a change of one message has
  /// already replaced them. If that fails, the next snapshot retries it.
  private func compact(_ changes: [SessionChange]) {
    for change in changes where change.replacesAll && !change.isEnd {
      let session = UTF8Key(change.session)
      guard let log = logs[session], log.messageCount > 1, log.lastSequence != nil else { continue }
      do throws(NATSClusterError) {
        try stream.deleteMessages(of: session, through: log.changeStart - 1)
        logs[session]?.markCompacted()
      } catch {
        return
      }
    }
  }
}

extension SessionChange {
  /// Whether it makes all earlier changes ineffective.
  fileprivate var replacesAll: Bool { isEnd || steps.first == .removeAll }
}

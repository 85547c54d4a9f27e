import WaySession
import WayValues

/// Writes the logs of the sessions that a server owns, in the NATS stream of sessions. Each message
/// is written after the last one that is known here, so that a former owner is rejected, or ignored
/// by readers (``JetStreamSessionLogState``). Confined to one thread at a time; each call blocks.
final class JetStreamSessionLogWriter {
  private static let streamDescription = "Sessions of Waybridge, form 4"
  /// How long NATS may take to respond. The leader of the stream does not respond to a change that it
  /// has received before its crash, and then the change must be written again. A change that is given
  /// up and arrives nevertheless is this server's own (``verifyOwnership(_:_:)``).
  private static let timeout: Duration = .seconds(2)
  /// The maximum size of one message in bytes, if NATS accepts that much.
  private static let maxMessage = 512 << 10

  private let connection: NATSConnection
  private let names: NATSClusterNames
  /// How often the lease of the server was lost; nil if it has none now.
  private let leaseLosses: () -> Int?
  /// When the stream with the logs was created.
  private var streamCreation: Int64
  /// Whether the stream may have been replaced by now.
  private var needsStreamCheck = false
  /// The state of each log.
  private var logs: [UTF8Key: JetStreamSessionLog] = [:]
  /// Whether acknowledged data is lost, until that is reported.
  private var hasLostData = false
  /// Ended sessions whose logs still exist, with the number of the last message of each.
  private var endedLogs: [UTF8Key: UInt64] = [:]

  /// A message of a change, and whether it begins the change.
  private typealias BatchMessage = (
    session: UTF8Key, begins: Bool, publication: NATSConnection.Publication
  )

  /// Connects to NATS, and creates the stream of sessions if there is none. `leaseLosses`
  /// returns how often the server's lease was lost so far, and nil if it has none.
  init(
    _ configuration: NATSClusterConfiguration, leaseLosses: @escaping () -> Int?
  ) throws(NATSClusterError) {
    connection = try NATSConnection(configuration, timeout: Self.timeout)
    names = configuration.names
    self.leaseLosses = leaseLosses
    try connection.requireStream(
      NATSConnection.StreamDefinition(
        name: names.sessionStream, displayName: "the stream \(names.sessionStream)",
        description: Self.streamDescription,
        subject: names.allSessions, replicas: configuration.replicas, allowsRollups: true))
    streamCreation = try connection.creationTime(of: names.sessionStream)
  }

  /// The address of NATS, without user and password.
  var endpoint: String { connection.endpoint }

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
    let results = try connection.publish(
      takeovers.map { (session, lease) throws(NATSClusterError) in
        try publication(
          of: JetStreamSessionLogEntry(lease: lease, fragment: []).bytes, session.id,
          after: session.lastSequence)
      })
    if !results.isEmpty { try connection.synchronize(names.sessionStream) }
    // If NATS does not report one of the results, the others are not returned either: they
    // can be taken over again.
    var logsTakenOver: [UTF8Key: JetStreamSessionLog] = [:]
    for ((session, lease), result) in zip(takeovers, results) {
      guard case .stored(let number) = result,
        try isEffective(number, after: session.lastSequence, of: session.id)
      else { continue }
      logsTakenOver[session.id] = JetStreamSessionLog(
        lease: lease, lastSequence: try confirmOwnership(number, session.id, lease),
        messageCount: session.messageCount + 1, isOutdated: session.isOutdated,
        leaseLosses: leaseLosses())
    }
    logs.merge(logsTakenOver) { _, new in new }
    return logsTakenOver.mapValues(\.lease)
  }

  /// Confirms the owner of a session if an ineffective message follows the one that took it over:
  /// lookups read the last message. Returns the number of the last message.
  private func confirmOwnership(
    _ number: UInt64, _ session: UTF8Key, _ lease: SessionLease
  ) throws(NATSClusterError) -> UInt64 {
    let subject = names.sessionSubject(of: session.text)
    guard connection.isReplicated,
      let last = try connection.lastMessage(in: names.sessionStream, of: subject)?.sequence,
      last != number
    else { return number }
    let confirmation = try publication(
      of: JetStreamSessionLogEntry(lease: lease, fragment: []).bytes, session, after: last)
    guard case .stored(let number)? = try connection.publish([confirmation]).first else {
      return last
    }
    return number
  }

  /// Returns an entry of a session's log as it is written after a message.
  private func publication(
    of entry: [UInt8], _ session: UTF8Key, after: UInt64, rollsUp: Bool = false
  ) throws(NATSClusterError) -> NATSConnection.Publication {
    let subject = names.sessionSubject(of: session.text)
    guard let bytes = connection.logCipher.seal(entry, on: subject, after: after) else {
      throw NATSClusterError(connection.endpoint, "a change cannot be encrypted: memory is short")
    }
    return NATSConnection.Publication(
      subject: subject, bytes: bytes, previousSequence: after, rollsUp: rollsUp)
  }

  /// Whether a message is effective that was written after another, once all messages in transit
  /// have arrived.
  private func isEffective(
    _ number: UInt64, after: UInt64, of session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    guard connection.isReplicated else { return true }
    return try connection.isNext(
      number, after: after, of: names.sessionSubject(of: session.text), in: names.sessionStream)
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
    var batch = LogBatch()
    func publish() throws {
      var rejected: Set<UTF8Key> = []
      defer { lost.formUnion(rejected) }
      if try write(batch, &rejected) {
        throw NATSClusterError(
          connection.endpoint,
          hasLostData
            ? "acknowledged data is lost; all sessions are written again"
            : "an unacknowledged change arrived late")
      }
      for released in batch.released where !rejected.contains(released) { logs[released] = nil }
      for ended in batch.ended where !rejected.contains(ended) {
        endedLogs[ended] = logs[ended]?.lastSequence
        logs[ended] = nil
      }
      batch = LogBatch()
    }
    do {
      let limit =
        min(Self.maxMessage, connection.maxMessage - 1024) - JetStreamSessionLogCipher.overhead
      for change in changes {
        let session = UTF8Key(change.session)
        let messages = JetStreamSessionLogEntry.messages(of: change, limit: limit)
        for (index, message) in messages.enumerated() {
          // A message is written after the one before it, whose number is known once that is
          // stored.
          if batch.sessions.contains(session) { try publish() }
          guard !lost.contains(session) else { break }
          guard let last = try lastSequence(of: session, change.lease) else {
            lost.insert(session)
            break
          }
          batch.add(
            session, begins: index == 0,
            try publication(
              of: message, session, after: last,
              rollsUp: last > 0 && messages.count == 1 && change.replacesAll))
        }
        if change.isRelease { logs[session]?.markReleased() }
        if change.isEnd { batch.ended.insert(session) }
        if change.isRelease { batch.released.insert(session) }
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
    let creation = try connection.creationTime(of: names.sessionStream)
    if creation != streamCreation {
      logs = logs.mapValues { JetStreamSessionLog(lease: $0.lease, lastSequence: 0) }
    }
    streamCreation = creation
    needsStreamCheck = false
  }

  /// Throws if the stream is not the one that contained the logs.
  private func checkStreamUnchanged() throws(NATSClusterError) {
    guard try connection.creationTime(of: names.sessionStream) != streamCreation else { return }
    needsStreamCheck = true
    throw NATSClusterError(connection.endpoint, "its data is lost; all sessions are written again")
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
    let lastMessage = try latestMessage(of: session)
    if lastMessage == nil, log.acknowledgedSequence > 0 { try checkStreamUnchanged() }
    guard try isOwnLog(lastMessage, log, session) else {
      logs[session] = nil
      return false
    }
    let number = lastMessage?.sequence ?? 0
    if number < log.acknowledgedSequence {
      hasLostData = true
      logs[session]?.truncate(to: number)
    } else {
      logs[session]?.setLast(number)
    }
    return true
  }

  /// Whether a session belongs to this server if its log ends with the given message, or is empty.
  private func isOwnLog(
    _ lastMessage: NATSConnection.StreamMessage?, _ log: JetStreamSessionLog, _ session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    guard let lastMessage else {
      return log.acknowledgedSequence == 0 || log.isCertainlyOwned(leaseLosses())
    }
    // A message that no server has written is left as it is.
    guard let lease = try? connection.logCipher.open(lastMessage).lease else { return false }
    if lease == log.lease { return true }
    guard log.isCertainlyOwned(leaseLosses()) else { return false }
    if lease.term < log.lease.term { return true }
    // A later message is not effective. If this server's own message is lost, the session belongs
    // to the other server.
    guard log.acknowledgedSequence > 0 else { return false }
    return try connection.isNext(
      log.acknowledgedSequence, after: log.acknowledgedSequence - 1,
      of: names.sessionSubject(of: session.text),
      in: names.sessionStream)
  }

  /// Returns the last message of a session's log, including all that was acknowledged; nil if there
  /// is none.
  private func latestMessage(
    of session: UTF8Key
  ) throws(NATSClusterError) -> NATSConnection.StreamMessage? {
    try connection.synchronize(names.sessionStream)
    return try connection.lastMessage(
      in: names.sessionStream, of: names.sessionSubject(of: session.text))
  }

  /// Messages that are sent together, each of another session.
  private struct LogBatch {
    private(set) var messages: [BatchMessage] = []
    private(set) var sessions: Set<UTF8Key> = []
    /// The sessions that end with it.
    var ended: Set<UTF8Key> = []
    /// The sessions that are released with it.
    var released: Set<UTF8Key> = []

    mutating func add(
      _ session: UTF8Key, begins: Bool, _ publication: NATSConnection.Publication
    ) {
      messages.append((session, begins, publication))
      sessions.insert(session)
    }
  }

  /// Writes messages. Adds the sessions whose messages were rejected to `rejected`, even if it
  /// throws afterwards. Returns whether one conflicted with another message of this server.
  private func write(
    _ batch: LogBatch, _ rejected: inout Set<UTF8Key>
  ) throws(NATSClusterError) -> Bool {
    guard !batch.messages.isEmpty else { return false }
    let results: [NATSConnection.PublishResult]
    do throws(NATSClusterError) {
      results = try connection.publish(batch.messages.map(\.publication))
    } catch {
      for session in batch.sessions { logs[session]?.markUncertain() }
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
  private func isContested(_ entry: BatchMessage, _ number: UInt64) throws(NATSClusterError) -> Bool
  {
    guard logs[entry.session]?.isContested == true else { return false }
    try connection.synchronize(names.sessionStream)
    return try !isEffective(number, after: entry.publication.previousSequence, of: entry.session)
  }

  /// Deletes the logs of at most `count` ended sessions; returns whether that is all. Throws if
  /// some cannot be deleted: they may be retried.
  func deleteEndedLogs(atMost count: Int = .max) throws(NATSClusterError) -> Bool {
    for session in endedLogs.keys.prefix(count) { try deleteLog(session) }
    return endedLogs.isEmpty
  }

  private func deleteLog(_ session: UTF8Key) throws(NATSClusterError) {
    guard let last = endedLogs[session] else { return }
    try connection.delete(
      names.sessionStream, names.sessionSubject(of: session.text), through: last)
    endedLogs[session] = nil
  }

  /// Deletes the messages before a change that begins with a snapshot; a change of one message has
  /// already replaced them. If that fails, the next snapshot retries it.
  private func compact(_ changes: [SessionChange]) {
    for change in changes where change.replacesAll && !change.isEnd {
      let session = UTF8Key(change.session)
      guard let log = logs[session], log.messageCount > 1, log.lastSequence != nil else { continue }
      do throws(NATSClusterError) {
        try connection.delete(
          names.sessionStream, names.sessionSubject(of: change.session),
          through: log.changeStart - 1)
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

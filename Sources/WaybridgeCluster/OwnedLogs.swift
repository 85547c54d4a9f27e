import WaySession
import WayValues

/// The logs of the sessions that a server owns, in the engine's stream of sessions: each message goes
/// after the last one that is known here, so that who was taken over from is refused, or not heeded by
/// who reads (``SessionReading``). Confined to one thread at a time; each call blocks.
final class OwnedLogs {
  /// The stream that the logs of all sessions are in.
  static let stream = "WAYBRIDGE_SESSIONS"
  private static let description = "Sessions of Waybridge, form 4"
  /// Bytes of one message at most, of those that the engine takes.
  private static let maxMessage = 512 << 10

  private let connection: NATSConnection
  /// How often the lease of the server was lost; nil where it does not hold now.
  private let losses: () -> Int?
  /// When the stream was made that the logs are in.
  private var made: Int64
  /// Whether it may be another by now.
  private var isDoubtful = false
  /// What is known of each.
  private var logs: [UTF8Key: SessionLog] = [:]
  /// Whether something is gone that the engine has acknowledged, until that is told.
  private var isBereft = false
  /// Sessions that are over, whose logs are still there, and the number of the last message of each.
  private var over: [UTF8Key: UInt64] = [:]

  /// A message of a change, and whether it begins that.
  private typealias Part = (
    session: UTF8Key, begins: Bool, publication: NATSConnection.Publication
  )

  /// Connects to the engine, and makes the stream of sessions where there is none. `losses` tells
  /// how often the server's lease was lost so far, and nil where it does not hold.
  init(
    _ address: NATSAddress, replicas: Int, losses: @escaping () -> Int?
  ) throws(NATSClusterError) {
    connection = try NATSConnection(address)
    self.losses = losses
    try connection.need(
      NATSConnection.Stream(
        name: Self.stream, what: "the stream \(Self.stream)", description: Self.description,
        subject: Subject.all, replicas: replicas, takesRollups: true))
    made = try connection.creation(of: Self.stream)
  }

  /// The engine's address, without user and password.
  var place: String { connection.place }

  /// Whether a session is among them.
  func has(_ session: UTF8Key) -> Bool { logs[session] != nil }

  /// What it has is nobody's.
  func forgetAll() { logs = [:] }

  /// Sessions that were found to be over, with the numbers of their last messages: their logs go with
  /// the next ``clear()``.
  func areOver(_ ended: some Sequence<SessionReading>) {
    for session in ended { over[session.id] = session.last }
  }

  /// Takes sessions over for a server as they were read; gives the leases of those that another has
  /// not taken since.
  func take(
    _ readings: [SessionReading], for owner: String
  ) throws(NATSClusterError) -> [UTF8Key: SessionLease] {
    var takings: [(reading: SessionReading, own: SessionLease)] = []
    for reading in readings {
      guard let last = reading.lease else { continue }
      takings.append((reading, SessionLease(owner: owner, term: last.term + 1)))
    }
    let verdicts = try connection.publish(
      takings.map { reading, own in
        NATSConnection.Publication(
          subject: Subject.of(reading.id.text),
          bytes: JetStreamSessionLogEntry(lease: own, piece: []).bytes, after: reading.last)
      })
    if !verdicts.isEmpty { try connection.settle(Self.stream) }
    // Where the engine does not say of one what has become of it, nobody hears of the others either:
    // they can be taken again.
    var taken: [UTF8Key: SessionLog] = [:]
    for ((reading, own), verdict) in zip(takings, verdicts) {
      guard case .kept(let number) = verdict,
        try counts(number, after: reading.last, of: reading.id)
      else { continue }
      taken[reading.id] = SessionLog(
        lease: own, last: try beLast(number, reading.id, own), count: reading.count + 1,
        losses: losses())
    }
    logs.merge(taken) { _, new in new }
    return taken.mapValues(\.lease)
  }

  /// Where another message has come after one that a session was taken over by, and does not count, says
  /// once more whose the session is: who looks that up looks at the last. Gives the number of the last.
  private func beLast(
    _ number: UInt64, _ session: UTF8Key, _ lease: SessionLease
  ) throws(NATSClusterError) -> UInt64 {
    let subject = Subject.of(session.text)
    guard connection.isReplicated,
      let last = try connection.last(in: Self.stream, of: subject)?.number, last != number
    else { return number }
    let again = NATSConnection.Publication(
      subject: subject, bytes: JetStreamSessionLogEntry(lease: lease, piece: []).bytes, after: last)
    guard case .kept(let number)? = try connection.publish([again]).first else { return last }
    return number
  }

  /// Whether a message counts that was kept after another, once all is there that was on its way.
  private func counts(
    _ number: UInt64, after: UInt64, of session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    guard connection.isReplicated else { return true }
    return try connection.isNext(
      number, after: after, of: Subject.of(session.text), in: Self.stream)
  }

  /// Whether something is gone that the engine has acknowledged; once for each time.
  func takeBereft() -> Bool {
    defer { isBereft = false }
    return isBereft
  }

  /// Writes the changes, each of a session as a whole or not at all. Throws ``ClusterError`` where
  /// the engine does not take them, and `SessionStoreError.leaseLost(sessions:)` for those that
  /// another server has taken over; of the others any may be kept then. Gives those whose logs are
  /// long.
  func append(_ changes: [SessionChange]) throws -> Set<String> {
    if isDoubtful { try lookAtStream() }
    // What is known to be in vain is not begun.
    var lost: Set<UTF8Key> = []
    for change in changes {
      let session = UTF8Key(change.session)
      if let log = logs[session], log.lease != change.lease { lost.insert(session) }
    }
    try check(lost)
    var batch = Batch()
    func publish() throws {
      var refused: Set<UTF8Key> = []
      defer { lost.formUnion(refused) }
      if try write(batch, &refused) {
        throw NATSClusterError(
          connection.place,
          isBereft
            ? "what it has acknowledged is gone; all is written anew"
            : "a change that was not acknowledged has come late")
      }
      for released in batch.released where !refused.contains(released) { logs[released] = nil }
      for ended in batch.ended where !refused.contains(ended) {
        over[ended] = logs[ended]?.last
        logs[ended] = nil
      }
      batch = Batch()
    }
    do {
      let limit = min(Self.maxMessage, connection.maxMessage - 1024)
      for change in changes {
        let session = UTF8Key(change.session)
        let messages = JetStreamSessionLogEntry.messages(of: change, limit: limit)
        for (place, message) in messages.enumerated() {
          // A message goes after the one before it, whose number is known when that is kept.
          if batch.sessions.contains(session) { try publish() }
          guard !lost.contains(session) else { break }
          guard let last = try last(of: session, change.lease) else {
            lost.insert(session)
            break
          }
          batch.add(
            session, begins: place == 0,
            NATSConnection.Publication(
              subject: Subject.of(change.session), bytes: message, after: last,
              rollsUp: last > 0 && messages.count == 1 && change.replacesAll))
        }
        if change.isRelease { logs[session]?.isGivenBack() }
        if change.isEnd { batch.ended.insert(session) }
        if change.isRelease { batch.released.insert(session) }
      }
      try publish()
    } catch {
      isDoubtful = true
      // Whatever else has failed, who has lost a session is told.
      try check(lost)
      throw error
    }
    shorten(changes)
    try check(lost)
    return Set(changes.lazy.map(\.session).filter { self.logs[UTF8Key($0)]?.isLong == true })
  }

  /// Where the engine has lost its disk, nobody has anything of what was kept: what this server owns
  /// begins anew there, with all of each session once that is handed over.
  func lookAtStream() throws(NATSClusterError) {
    let now = try connection.creation(of: Self.stream)
    if now != made { logs = logs.mapValues { SessionLog(lease: $0.lease, last: 0) } }
    made = now
    isDoubtful = false
  }

  /// Throws where the stream is another than the logs were in.
  private func checkStream() throws(NATSClusterError) {
    guard try connection.creation(of: Self.stream) != made else { return }
    isDoubtful = true
    throw NATSClusterError(connection.place, "what it had is gone; all is written anew")
  }

  private func check(_ lost: Set<UTF8Key>) throws(SessionStoreError) {
    guard lost.isEmpty else { throw .leaseLost(sessions: Set(lost.map(\.text))) }
  }

  /// The number of the last message of a session's log, 0 for one that begins; nil where that is
  /// another server's.
  private func last(
    of session: UTF8Key, _ lease: SessionLease
  ) throws(NATSClusterError) -> UInt64? {
    guard let log = logs[session] else {
      // Another has begun under the same id.
      try clear(session)
      logs[session] = SessionLog(lease: lease, last: 0)
      return 0
    }
    if let last = log.last { return last }
    return try isStillOwn(session, log) ? logs[session]?.last : nil
  }

  /// Looks for the last message of a session's log, which the next one goes after. Whether the session
  /// is still this server's: it is forgotten otherwise.
  ///
  /// It is where the message is this server's own, be it one that was given up and came late; and
  /// where nobody can have taken the session over, so that the message does not count, or the engine
  /// has lost what it had acknowledged.
  private func isStillOwn(
    _ session: UTF8Key, _ log: SessionLog
  ) throws(NATSClusterError) -> Bool {
    let found = try lastForSure(of: session)
    if found == nil, log.acknowledged > 0 { try checkStream() }
    guard try isOwn(found, log, session) else {
      logs[session] = nil
      return false
    }
    let number = found?.number ?? 0
    if number < log.acknowledged {
      isBereft = true
      logs[session]?.isGone(but: number)
    } else {
      logs[session]?.wasFound(number)
    }
    return true
  }

  /// Whether a session is this server's, whose log ends with a message, or has none.
  private func isOwn(
    _ found: NATSConnection.Kept?, _ log: SessionLog, _ session: UTF8Key
  ) throws(NATSClusterError) -> Bool {
    guard let found else { return log.acknowledged == 0 || log.isCertain(losses()) }
    // What no server has written is left as it is.
    guard let lease = try? JetStreamSessionLogEntry(found.bytes).lease else { return false }
    if lease == log.lease { return true }
    guard log.isCertain(losses()) else { return false }
    if lease.term < log.lease.term { return true }
    // Who has come later does not count. Where the own is gone, it is the other's.
    guard log.acknowledged > 0 else { return false }
    return try connection.isNext(
      log.acknowledged, after: log.acknowledged - 1, of: Subject.of(session.text),
      in: Self.stream)
  }

  /// The last message of a session's log, with all that was acknowledged; nil for none.
  private func lastForSure(
    of session: UTF8Key
  ) throws(NATSClusterError) -> NATSConnection.Kept? {
    try connection.settle(Self.stream)
    return try connection.last(in: Self.stream, of: Subject.of(session.text))
  }

  /// Messages that go out together, of as many sessions.
  private struct Batch {
    private(set) var parts: [Part] = []
    private(set) var sessions: Set<UTF8Key> = []
    /// Those that are over with it.
    var ended: Set<UTF8Key> = []
    /// Those that are nobody's with it.
    var released: Set<UTF8Key> = []

    mutating func add(
      _ session: UTF8Key, begins: Bool, _ publication: NATSConnection.Publication
    ) {
      parts.append((session, begins, publication))
      sessions.insert(session)
    }
  }

  /// Writes messages; adds the sessions whose own were refused, also where it throws then, and gives
  /// whether one was in the way of another of this server.
  private func write(
    _ batch: Batch, _ refused: inout Set<UTF8Key>
  ) throws(NATSClusterError) -> Bool {
    guard !batch.parts.isEmpty else { return false }
    let verdicts: [NATSConnection.Verdict]
    do throws(NATSClusterError) {
      verdicts = try connection.publish(batch.parts.map(\.publication))
    } catch {
      for session in batch.sessions { logs[session]?.isInDoubt() }
      throw error
    }
    var isLate = false
    for (part, verdict) in zip(batch.parts, verdicts) {
      switch verdict {
      case .kept(let number):
        guard try !isContested(part, number) else {
          logs[part.session]?.isInDoubt()
          isLate = true
          continue
        }
        logs[part.session]?.add(
          number, part.publication.bytes.count, begins: part.begins, losses: losses())
        if part.publication.rollsUp { logs[part.session]?.wasShortened() }
      case .outrun:
        logs[part.session]?.isInDoubt()
        if let log = logs[part.session], try isStillOwn(part.session, log) {
          isLate = true
        } else {
          refused.insert(part.session)
        }
      }
    }
    return isLate
  }

  /// Whether a message was kept after one of this server's own that was given up, and came before it.
  private func isContested(_ part: Part, _ number: UInt64) throws(NATSClusterError) -> Bool {
    guard logs[part.session]?.isContested == true else { return false }
    try connection.settle(Self.stream)
    return try !counts(number, after: part.publication.after, of: part.session)
  }

  /// Has the logs of sessions go that are over. Throws where some have not: they may another time.
  /// At most so many; whether that is all.
  func clear(atMost count: Int = .max) throws(NATSClusterError) -> Bool {
    for session in over.keys.prefix(count) { try clear(session) }
    return over.isEmpty
  }

  private func clear(_ session: UTF8Key) throws(NATSClusterError) {
    guard let last = over[session] else { return }
    try connection.delete(Self.stream, Subject.of(session.text), through: last)
    over[session] = nil
  }

  /// What stands before a change that begins with all anew says nothing any more; where that has one
  /// message, it has gone with it. Where it does not go now, it does so with the next one.
  private func shorten(_ changes: [SessionChange]) {
    for change in changes where change.replacesAll && !change.isEnd {
      let session = UTF8Key(change.session)
      guard let log = logs[session], log.count > 1, log.last != nil else { continue }
      do throws(NATSClusterError) {
        try connection.delete(
          Self.stream, Subject.of(change.session), through: log.changeBegan - 1)
        logs[session]?.wasShortened()
      } catch {
        return
      }
    }
  }
}

extension SessionChange {
  /// Whether nothing counts any more of what was before.
  fileprivate var replacesAll: Bool { isEnd || steps.first == .removeAll }
}

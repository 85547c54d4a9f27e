import WaySession
import WayStore
import WayValues

/// Keeps sessions in NATS with JetStream, for any number of servers: each session is one server's,
/// and another takes it over when that one is gone.
///
/// Each change of a session is a message of its own subject in one stream, written after the last
/// one that its owner knows of: who was taken over from is refused. What ``append(_:)`` has returned
/// for outlives a crash of the server; with three engines (replicas) that of an engine too; and a
/// power failure of all engines as far as nats-server has written to its disks (`sync_interval`).
///
/// All work is done on a thread of its own, in the order of the calls.
public actor JetStreamSessionStore: SessionStore {
  private static let stream = "WAYBRIDGE_SESSIONS"
  private static let description = "Sessions of Waybridge, form 1"
  /// Bytes of one message at most, of those that the engine takes.
  private static let maxMessage = 512 << 10

  private let queue = WorkQueue("waybridge.cluster")
  private let place: String
  /// Nil once it is closed.
  private var connection: NATSConnection?
  private var lease: ServerLease?
  private var renewals: Task<Void, Never>?
  /// What is known of the logs of those that this server owns.
  private var logs: [UTF8Key: SessionLog] = [:]

  /// A message of a change, and whether it begins that.
  private typealias Part = (
    session: UTF8Key, begins: Bool, publication: NATSConnection.Publication
  )

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Connects to the engine, and makes the stream of sessions where there is none; blocks meanwhile.
  ///
  /// `url` is `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…`; several engines of one cluster
  /// have commas between them. Throws ``ClusterError``, which says what to do: where no engine
  /// answers, it has no JetStream, or its stream is another's.
  public init(url: String) throws {
    let connection = try NATSConnection(url)
    try connection.makeStream(
      Self.stream, subject: Subject.all, description: Self.description)
    place = connection.place
    self.connection = connection
  }

  /// Takes over the sessions of all servers that are gone, which takes some seconds where one of
  /// them has not been for long. Throws ``ClusterError``.
  public func load(as owner: String) async throws -> [StoredSession] {
    let connection = try opened()
    self.lease?.giveBack()
    let lease = try ServerLease(of: owner, on: connection)
    self.lease = lease
    if renewals == nil { renewals = renewing() }
    let (found, order) = try read(connection)
    let others = Set(found.values.compactMap { $0.isOver ? nil : $0.lease?.owner })
      .subtracting([owner])
    let alive = try await alive(of: others, lease)
    var taken: [StoredSession] = []
    for id in order {
      guard let reading = found[id], let last = reading.lease, !alive.contains(last.owner) else {
        continue
      }
      if reading.isOver {
        try connection.purge(Self.stream, Subject.of(id.text))
        continue
      }
      let own = SessionLease(owner: owner, term: last.term + 1)
      let taking = NATSConnection.Publication(
        subject: Subject.of(id.text), bytes: SessionLogEntry(lease: own, piece: []).bytes,
        after: reading.last)
      // Another server may have been faster.
      guard case .kept(let number)? = try connection.publish([taking]).first else { continue }
      logs[id] = SessionLog(lease: own, last: number, count: reading.count + 1)
      taken.append(StoredSession(id: id.text, lease: own, parts: reading.parts.all))
    }
    return taken
  }

  /// Which of these servers are there: those that renew their leases.
  private func alive(of owners: Set<String>, _ lease: ServerLease) async throws -> Set<String> {
    let first = try lease.revisions(of: owners)
    var doubtful = Set(first.keys)
    var alive: Set<String> = []
    while !doubtful.isEmpty {
      try await Task.sleep(for: .milliseconds(250))
      let now = try lease.revisions(of: doubtful)
      for owner in doubtful where now[owner] != first[owner] {
        doubtful.remove(owner)
        if now[owner] != nil { alive.insert(owner) }
      }
    }
    return alive
  }

  /// What all logs say, and the sessions in the order in which they began.
  private func read(
    _ connection: NATSConnection
  ) throws(ClusterError) -> (found: [UTF8Key: SessionReading], order: [UTF8Key]) {
    var found: [UTF8Key: SessionReading] = [:]
    var order: [UTF8Key] = []
    try connection.messages(in: Self.stream, of: Subject.all) {
      subject, number, bytes throws(ClusterError) in
      guard let session = Subject.session(subject) else {
        throw ClusterError(
          place, "the subject \(subject) is none of a session", advice: "purge it")
      }
      let id = UTF8Key(session)
      if found[id] == nil { order.append(id) }
      do throws(SessionLogFault) {
        try found[id, default: SessionReading()].add(bytes, number)
      } catch {
        throw ClusterError(
          place, "the message \(number) of the session \(session) cannot be read: \(error)",
          advice: "run the version that has written it, or purge the subject \(subject)")
      }
    }
    return (found, order)
  }

  /// Writes the changes, each of a session as a whole or not at all. Throws ``ClusterError`` where
  /// the engine does not take them, and `SessionStoreError.leaseLost(sessions:)` for those that
  /// another server has taken over; of the others any may be kept then, and the store can be used
  /// further.
  @discardableResult
  public func append(_ changes: [SessionChange]) throws -> Set<String> {
    let connection = try opened()
    // What is known to be in vain is not begun.
    var lost: Set<UTF8Key> = []
    for change in changes {
      let session = UTF8Key(change.session)
      if let log = logs[session], log.lease != change.lease { lost.insert(session) }
    }
    try check(lost)
    var batch = Batch()
    func publish() throws {
      let refused = try write(batch, connection)
      lost.formUnion(refused)
      for ended in batch.ended where !refused.contains(ended) {
        logs[ended] = nil
        try connection.purge(Self.stream, Subject.of(ended.text))
      }
      batch = Batch()
    }
    let limit = min(Self.maxMessage, connection.maxMessage - 1024)
    for change in changes {
      let session = UTF8Key(change.session)
      for (place, message) in SessionLogEntry.messages(of: change, limit: limit).enumerated() {
        // A message goes after the one before it, whose number is known when that is kept.
        if batch.sessions.contains(session) { try publish() }
        guard !lost.contains(session) else { break }
        guard let last = try last(of: session, change.lease, connection) else {
          lost.insert(session)
          break
        }
        batch.add(
          session, begins: place == 0,
          NATSConnection.Publication(
            subject: Subject.of(change.session), bytes: message, after: last))
      }
      if change.isEnd { batch.ended.insert(session) }
    }
    try publish()
    try shorten(changes, connection)
    try check(lost)
    return Set(changes.lazy.map(\.session).filter { self.logs[UTF8Key($0)]?.isLong == true })
  }

  private func check(_ lost: Set<UTF8Key>) throws(SessionStoreError) {
    guard lost.isEmpty else { throw .leaseLost(sessions: Set(lost.map(\.text))) }
  }

  /// Gives its leases back, so that other servers need not wait.
  public func close() {
    renewals?.cancel()
    renewals = nil
    lease?.giveBack()
    lease = nil
    connection = nil
  }

  private func opened() throws(ClusterError) -> NATSConnection {
    guard let connection else { throw ClusterError(place, "the store is closed") }
    return connection
  }

  /// A server that cannot tell that it is there is taken for one that is gone.
  private func renewing() -> Task<Void, Never> {
    Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: ServerLease.renewal)
        guard let self else { return }
        await self.renewLease()
      }
    }
  }

  private func renewLease() {
    // The next one may succeed. Whether a session was taken over meanwhile its next change tells.
    try? lease?.renew()
  }

  /// The number of the last message of a session's log, 0 for one that begins; nil where that is
  /// another server's.
  private func last(
    of session: UTF8Key, _ lease: SessionLease, _ connection: NATSConnection
  ) throws(ClusterError) -> UInt64? {
    guard let log = logs[session] else {
      logs[session] = SessionLog(lease: lease, last: 0)
      return 0
    }
    if let last = log.last { return last }
    guard let found = try connection.last(in: Self.stream, of: Subject.of(session.text)) else {
      logs[session] = SessionLog(lease: lease, last: 0)
      return 0
    }
    guard let entry = try? SessionLogEntry(found.bytes), entry.lease == lease else {
      logs[session] = nil
      return nil
    }
    logs[session]?.last = found.number
    return found.number
  }

  /// Messages that go out together, of as many sessions.
  private struct Batch {
    private(set) var parts: [Part] = []
    private(set) var sessions: Set<UTF8Key> = []
    /// Those that are over with it.
    var ended: Set<UTF8Key> = []

    mutating func add(
      _ session: UTF8Key, begins: Bool, _ publication: NATSConnection.Publication
    ) {
      parts.append((session, begins, publication))
      sessions.insert(session)
    }
  }

  /// Writes messages; gives the sessions whose own were refused.
  private func write(
    _ batch: Batch, _ connection: NATSConnection
  ) throws(ClusterError) -> Set<UTF8Key> {
    guard !batch.parts.isEmpty else { return [] }
    let verdicts: [NATSConnection.Verdict]
    do throws(ClusterError) {
      verdicts = try connection.publish(batch.parts.map(\.publication))
    } catch {
      // What of it is kept is not known.
      for session in batch.sessions { logs[session]?.last = nil }
      throw error
    }
    var refused: Set<UTF8Key> = []
    for (part, verdict) in zip(batch.parts, verdicts) {
      switch verdict {
      case .kept(let number):
        logs[part.session]?.add(number, part.publication.bytes.count, begins: part.begins)
      case .outrun:
        logs[part.session] = nil
        refused.insert(part.session)
      }
    }
    return refused
  }

  /// What stands before a change that begins with all anew says nothing any more.
  private func shorten(
    _ changes: [SessionChange], _ connection: NATSConnection
  ) throws(ClusterError) {
    for change in changes where change.steps.first == .removeAll && !change.isEnd {
      let session = UTF8Key(change.session)
      guard let log = logs[session], log.count > 1, log.last != nil else { continue }
      try connection.purge(Self.stream, Subject.of(change.session), before: log.changeBegan)
      logs[session]?.wasShortened()
    }
  }
}

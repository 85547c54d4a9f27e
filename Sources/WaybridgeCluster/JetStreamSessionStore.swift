import WaySession
import WayStore
import WayTransport
import WayValues

/// Keeps sessions in NATS with JetStream, for any number of servers: each session is one server's,
/// and another takes it over when that one is gone.
///
/// Each change of a session is a message of its own subject in one stream, written after the last
/// one that its owner knows of: who was taken over from is refused, or not heeded. What ``append(_:)`` has returned
/// for outlives a crash of the server; with three engines (replicas) that of an engine too; and a
/// power failure of all engines as far as nats-server has written to its disks (`sync_interval`).
///
/// What is written is written on a thread of its own, in the order of the calls; what is read to be
/// taken over is read aside, and what was written meanwhile refuses that.
package actor JetStreamSessionStore: SharedSessionStore {
  /// Sessions that are taken over in one turn, and bytes of logs that are read for it at once.
  private static let maxTaken = 256
  private static let maxRead = 256 << 20
  /// Logs of sessions that are over that go at once: what is to be written waits meanwhile.
  private static let maxCleared = 16
  /// And as the store is closed; what is left others have go.
  private static let maxClearedLast = 256
  /// For how many seconds it is tried again to read what an engine does not have yet.
  private static let holeSeconds = 5

  private let queue = SQLiteWorkQueue("waybridge.cluster")
  private let place: String
  /// Who tells which servers are gone.
  private let leases: NATSServerLeases
  private let lookups: Lookups
  private let reader: SessionReader
  /// Called where the engine has lost what it had acknowledged.
  private let bereft: @Sendable () -> Void
  /// Of those that this server owns; nil once it is closed.
  private var logs: OwnedLogs?
  private var owner = ""
  /// Whether logs that are left of sessions that are over are tried again soon.
  private var isClearing = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Connects to the engine, and makes the stream of sessions where there is none; blocks meanwhile.
  init(
    _ address: NATSAddress, replicas: Int, _ leases: NATSServerLeases, _ lookups: Lookups,
    bereft: @escaping @Sendable () -> Void
  ) throws(NATSClusterError) {
    let tenure = leases.tenure
    let logs = try OwnedLogs(address, replicas: replicas) {
      // What is lost after that is another loss.
      let losses = tenure.counts.losses
      return tenure.isOver(at: ClusterClock.nanoseconds) ? nil : losses
    }
    self.bereft = bereft
    place = logs.place
    self.logs = logs
    self.leases = leases
    self.lookups = lookups
    reader = SessionReader(address)
  }

  package func load(as owner: String) async throws -> [StoredSession] {
    self.owner = owner
    // What it had in an earlier life is nobody's.
    try opened().forgetAll()
    let loaded = Locked<[StoredSession]>([])
    _ = try await takeAll { session in loaded.withLock { $0.append(session) } }
    return loaded.withLock { $0 }
  }

  package func takeAll(
    _ taken: @Sendable (StoredSession) async -> Void
  ) async throws -> Set<String> {
    try opened().lookAtStream()
    let survey = try await reader.survey()
    let gone = try await self.gone(of: survey)
    let owners = Self.owners(of: survey)
    try opened().areOver(survey.lazy.filter(\.isOver))
    clear()
    let nobodys = survey.filter { isNobodys($0, gone) }
    var holed: [SessionReading] = []
    for group in Self.groups(nobodys) { holed += try await take(group, taken) }
    // An engine that is behind the others is so for some seconds; what it does not have by then is
    // left to who comes for it.
    for _ in 0..<Self.holeSeconds where !holed.isEmpty {
      try await Task.sleep(for: .seconds(1))
      holed = try await take(holed.map(\.id), taken)
    }
    return owners.subtracting(gone).subtracting([owner])
  }

  /// Whose sessions are that are some server's.
  private static func owners(of readings: [SessionReading]) -> Set<String> {
    Set(readings.compactMap { $0.isOver || $0.isReleased ? nil : $0.lease?.owner })
  }

  /// Which servers are gone that sessions are of, as they were read.
  private func gone(of readings: [SessionReading]) async throws -> Set<String> {
    var gone: Set<String> = []
    for other in Self.owners(of: readings) where other != owner {
      if try await leases.isGone(other) { gone.insert(other) }
    }
    return gone
  }

  /// Takes sessions over and hands them on; gives those of whose logs messages are missing.
  private func take(
    _ group: [UTF8Key], _ taken: @Sendable (StoredSession) async -> Void
  ) async throws -> [SessionReading] {
    let readings = try await reader.read(group)
    // Another server may have taken one over since it was found to be nobody's; or its own, which was
    // away and is back: what it writes after what was read here refuses the taking.
    let gone = try await self.gone(of: readings)
    let whole = readings.filter { !$0.isHoled && isNobodys($0, gone) }
    for start in stride(from: 0, to: whole.count, by: Self.maxTaken) {
      let some = whole[start..<min(start + Self.maxTaken, whole.count)]
      for session in try take(some) { await taken(session) }
    }
    return readings.filter(\.isHoled)
  }

  /// Throws where messages of the session's log are missing.
  private func check(_ reading: SessionReading) throws(NATSClusterError) {
    guard reading.isHoled else { return }
    throw NATSClusterError(
      place, "messages of the session \(reading.id.text) are missing",
      advice: "an engine that is behind the others has them soon; where all are there and it stays "
        + "so, they are lost: \(NATSClusterError.toForget(reading.id.text))")
  }

  /// Sessions that are read together: so many that their logs have a bounded size, or one.
  private static func groups(_ readings: [SessionReading]) -> [[UTF8Key]] {
    var groups: [[UTF8Key]] = []
    var size = 0
    for reading in readings {
      if groups.isEmpty || size + reading.size > maxRead {
        groups.append([])
        size = 0
      }
      groups[groups.count - 1].append(reading.id)
      size += reading.size
    }
    return groups
  }

  package func take(_ session: String) async throws -> StoredSession? {
    guard let reading = try await lookups.log(of: session) else { return nil }
    try check(reading)
    if let fault = reading.fault {
      throw NATSClusterError(place, fault, advice: NATSClusterError.advice(toRead: session))
    }
    guard !reading.isOver, let last = reading.lease else { return nil }
    if !isFree(reading) {
      guard last.owner != owner, try await leases.isGone(last.owner) else { return nil }
    }
    return try take([reading]).first
  }

  /// Whether a session can be taken over, or cannot be read, where these servers are gone.
  private func isNobodys(_ reading: SessionReading, _ gone: Set<String>) -> Bool {
    if reading.fault != nil { return true }
    guard let lease = reading.lease, !reading.isOver else { return false }
    return isFree(reading) || gone.contains(lease.owner)
  }

  /// Whether a session was released, or is this server's, which does not know it: the answer got lost
  /// that said it was taken over.
  private func isFree(_ reading: SessionReading) -> Bool {
    reading.isReleased || (reading.lease?.owner == owner && logs?.has(reading.id) != true)
  }

  /// Takes sessions over that are nobody's, as they were read; those are not among them that another
  /// server has taken since, or whose owner was there after all. One that cannot be read is given
  /// with its fault, and left. Where the engine does not say what has become of them, they are
  /// nobody's still.
  private func take(_ readings: some Collection<SessionReading>) throws -> [StoredSession] {
    let taken = try opened().take(readings.filter { $0.fault == nil && !$0.isOver }, for: owner)
    return readings.compactMap { reading in
      if let fault = reading.fault {
        var unreadable = StoredSession(
          id: reading.id.text, lease: SessionLease(owner: "", term: 0), parts: [:])
        unreadable.fault = fault
        return unreadable
      }
      return taken[reading.id].map { lease in
        StoredSession(
          id: reading.id.text, lease: lease, parts: reading.parts.all,
          isComplete: reading.isReleased)
      }
    }
  }

  @discardableResult
  package func append(_ changes: [SessionChange]) throws -> Set<String> {
    defer { if logs?.takeBereft() == true { bereft() } }
    do {
      let long = try opened().append(changes)
      clear()
      return long
    } catch {
      clear(after: .seconds(1))
      throw error
    }
  }

  package func close() {
    _ = try? logs?.clear(atMost: Self.maxClearedLast)
    logs = nil
  }

  private func opened() throws(NATSClusterError) -> OwnedLogs {
    guard let logs else { throw NATSClusterError(place, "the store is closed") }
    return logs
  }

  /// Has the logs of sessions go that are over; those that do not go now do so later.
  /// Some at a time, so that what is written meanwhile does not wait for all.
  private func clear() {
    guard !isClearing else { return }
    do throws(NATSClusterError) {
      if try logs?.clear(atMost: Self.maxCleared) == false { clear(after: .zero) }
    } catch {
      clear(after: .seconds(1))
    }
  }

  private func clear(after time: Duration) {
    guard !isClearing else { return }
    isClearing = true
    Task { [weak self] in
      try? await Task.sleep(for: time)
      await self?.clearAgain()
    }
  }

  private func clearAgain() {
    isClearing = false
    clear()
  }
}

import WaySession
import WayStore

/// Holds this server's lease, a key that it renews, and finds out which other servers are down.
///
/// The key is written by compare-and-set. A server that sees another's key unchanged for longer
/// than a lease deletes it; that server cannot renew it any more. No clock of another machine
/// matters, and none that can be set: each server measures by its own monotonic clock how long it
/// has seen no renewal. If there are several NATS servers, they can extend a lease
/// (``NATSQuorum``).
actor NATSServerLeases {
  /// A server that has not renewed its lease for so long is down.
  private static let lifetime: Duration = .nanoseconds(Int64(NATSQuorum.lifetime))
  private static let renewalInterval: Duration = .seconds(1)
  /// After how many nanoseconds it is reported that this server waits before it joins.
  private static let reportedDelay: UInt64 = 3_000_000_000
  /// After how many renewals the server is compared again with those that are up.
  private static let comparisonInterval = 5
  /// How long the keys of servers that are down are kept.
  private static let keyLifetime: Duration = .seconds(86_400)

  private let queue = SQLiteWorkQueue("waybridge.leases")
  private let connection: NATSConnection
  private let keys: KeyValueBucket
  nonisolated let leaseValidity: SessionLeaseValidity
  private nonisolated let leaseStatus: NATSLeaseStatus
  /// Nil if only one NATS server stores the keys, or if the settings name too few of them.
  nonisolated let quorum: NATSQuorumMonitor?
  private var membership = LeaseMembership.outside
  /// How often this server was compared with those that are up. The result of an earlier comparison
  /// does not count.
  private var comparisonCount = 0
  /// The value of this server's key; nil before it has joined.
  private var value: NATSLeaseValue?
  /// The revision of this server's key; nil if it is not known, or if there is no key.
  private var revision: UInt64?
  private var renewalTask: Task<Void, Never>?
  private var handlers: ClusterHandlers?
  /// What the comparisons know that are repeated while the lease is renewed.
  private var repeatedComparison = NATSLeaseComparison()
  private var renewalsUntilComparison = comparisonInterval
  /// Whether other secrets are being compared, or published.
  private var isReplacingSecrets = false
  /// The revision of each other key, and since when this server has seen it.
  private var observedRenewals: [String: (revision: UInt64, since: UInt64)] = [:]
  /// How many servers are observed at most.
  private static let maxObservedServers = 10_000

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(
    _ configuration: NATSClusterConfiguration, leaseValidity: SessionLeaseValidity,
    _ leaseStatus: NATSLeaseStatus
  ) throws(NATSClusterError) {
    connection = try NATSConnection(configuration, timeout: .seconds(1))
    keys = try KeyValueBucket(
      connection.names.leaseBucket, description: "Leases of Waybridge, form 5",
      replicas: configuration.replicas, lifetime: Self.keyLifetime, on: connection)
    quorum = connection.isReplicated ? NATSQuorumMonitor(configuration, leaseValidity) : nil
    self.leaseValidity = leaseValidity
    self.leaseStatus = leaseStatus
  }

  /// Whether this server has a key.
  private enum LeaseMembership {
    /// There is no key: before the server joins, and after it has left.
    case outside
    /// The server compares itself with those that are up, and does not renew its key.
    case comparing
    /// The key is written, and is compared with those of servers that join at the same time.
    case joining
    /// The key is renewed. If that was impossible for too long, the server compares itself again.
    case joined
    /// Another server has deleted the key, until this one joins again.
    case lost
  }

  /// Joins as the server of a lease, also again after its key was deleted. Throws if the key cannot
  /// be written, and a `ClusterConflict` if this server must not share sessions with one that has
  /// joined before; there is no key then. Call ``begin(_:)`` after the first time.
  ///
  /// Calls `delayed` if that takes some seconds, with what this server waits for. Calls `joined` when
  /// it has joined, before any handler for something later.
  func join(
    with value: NATSLeaseValue, delayed: @escaping @Sendable (String) -> Void = { _ in },
    _ joined: @Sendable () -> Void = {}
  ) async throws {
    guard membership != .comparing, membership != .joining else {
      throw NATSClusterError(connection.endpoint, "this server is already joining")
    }
    membership = .comparing
    comparisonCount += 1
    self.value = value
    self.value?.joined = nil
    self.value?.voters = quorum?.voters ?? []
    quorum?.begin(as: value.server)
    do {
      // A server that must not join has no key, and so keeps no other server out.
      let silent = try await checkAgreement(delayed: delayed)
      guard membership == .comparing else { throw notJoinedError }
      membership = .joining
      try writeFirstKey()
      // Of two servers that join at the same time, the later one sees the key of the other.
      try await checkAgreement(except: silent, delayed: delayed)
      guard membership == .joining else {
        throw NATSClusterError(
          connection.endpoint, "another server declared this one failed while it joined")
      }
      membership = .joined
      repeatedComparison = NATSLeaseComparison()
      joined()
    } catch {
      withdraw()
      throw error
    }
  }

  private var notJoinedError: NATSClusterError {
    NATSClusterError(connection.endpoint, "this server is not in its cluster")
  }

  /// Joins again, after this server was declared down or has withdrawn, like ``join(with:_:)``.
  func rejoin(
    _ announcement: ClusterAnnouncement, _ joined: @Sendable () -> Void = {}
  ) async throws {
    guard var value else { throw notJoinedError }
    value.announcement = announcement
    try await join(with: value, joined)
  }

  /// Renews the lease from now on, until ``leave()``. The other servers learn of this one by the
  /// first renewal, which is reported to `handlers` at once.
  func begin(_ handlers: ClusterHandlers) {
    self.handlers = handlers
    handlers.leaseRenewed()
    quorum?.reportExtensions(to: handlers.leaseRenewed)
    renewalTask = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.renewalInterval)
        guard let self else { return }
        await self.renew()
        await self.repeatComparison()
      }
    }
  }

  /// Throws a `ClusterConflict` if a server is up that has joined before this one, and that must not
  /// share sessions with it. Waits until each such server has renewed its lease, or until its lease has
  /// ended. Returns the revisions of the keys of the latter; those that were found before are not
  /// waited for again.
  @discardableResult
  private func checkAgreement(
    of changed: NATSLeaseValue? = nil, except silent: [String: UInt64] = [:],
    delayed: (@Sendable (String) -> Void)? = nil
  ) async throws -> [String: UInt64] {
    guard let own = changed ?? value else { return [:] }
    let values = try access { () throws(NATSClusterError) in try keys.currentValues() }
    var conflicts = NATSLeaseConflicts(of: own, with: values, except: silent)
    let start = NATSClusterClock.nanoseconds
    var unreported = delayed
    while true {
      var areUp = false
      for other in conflicts.servers {
        // In this order: the key is unchanged for as long as that.
        let age = NATSClusterClock.nanoseconds - start
        let entry = try access { () throws(NATSClusterError) in
          try keys.entry(of: Self.key(of: other))
        }
        if let conflict = conflicts.update(other, entry) { throw conflict }
        if conflicts.revisions[other] != nil, !hasEnded(leaseOf: other, entry, unchangedFor: age) {
          areUp = true
        }
      }
      guard areUp else { return conflicts.revisions }
      if NATSClusterClock.nanoseconds - start >= Self.reportedDelay {
        unreported?(
          "servers with other settings may still be up: their leases must end first "
            + "(\(conflicts.servers.joined(separator: ", ")))")
        unreported = nil
      }
      try await Task.sleep(for: Self.renewalInterval / 4)
      await renew()
    }
  }

  /// Accesses keys, and records whether NATS has responded.
  private func access<Result>(
    _ body: () throws(NATSClusterError) -> Result
  ) throws(NATSClusterError) -> Result {
    do throws(NATSClusterError) {
      let result = try body()
      leaseStatus.failure = nil
      return result
    } catch {
      leaseStatus.failure = "\(error)"
      throw error
    }
  }

  /// Compares this server with those that are up from time to time while its lease is renewed. The
  /// comparisons of joining servers may have missed a key: a NATS server that is behind the others
  /// returns an earlier state.
  private func repeatComparison() {
    renewalsUntilComparison -= 1
    guard renewalsUntilComparison <= 0, membership == .joined, !mustCompare, let value else {
      return
    }
    renewalsUntilComparison = Self.comparisonInterval
    // If NATS does not respond, the renewals fail too.
    guard let values = try? keys.currentValues(),
      let conflict = repeatedComparison.update(value, with: values)
    else { return }
    withdraw()
    handlers?.conflictFound(conflict)
  }

  /// Publishes the names of other secrets that this server has, and calls `use`. Throws a
  /// `ClusterConflict` if a server that is up could not exchange messages with it then. If it throws,
  /// the earlier names are published again.
  ///
  /// It compares twice, like ``join(with:_:)``. Of two servers that change their secrets at the same
  /// time, the second comparison of the later one finds those of the other: a server with new secrets
  /// is the last in the order of servers.
  func replaceSecrets(_ names: [String], _ use: @Sendable () throws -> Void) async throws {
    guard membership == .joined, let previous = value else { throw notJoinedError }
    guard !isReplacingSecrets else {
      throw NATSClusterError(connection.endpoint, "the secrets are already being replaced")
    }
    isReplacingSecrets = true
    defer { isReplacingSecrets = false }
    let comparison = comparisonCount
    func checkMembership() throws {
      // Meanwhile it may have been compared again, with the earlier secrets.
      guard membership == .joined, comparison == comparisonCount, !mustCompare else {
        throw NATSClusterError(
          connection.endpoint, "this server could not renew its lease in the meantime")
      }
    }
    var changed = previous
    (changed.secrets, changed.joined) = (names, nil)
    try await checkAgreement(of: changed)
    try checkMembership()
    do {
      try publish(changed)
      try await checkAgreement()
      try checkMembership()
      try use()
    } catch {
      if value?.secrets == names { value?.secrets = previous.secrets }
      await renew()
      throw error
    }
  }

  /// Writes another value of this server's key. If that fails, the key may have either value, and the
  /// next renewal writes the earlier one.
  private func publish(_ changed: NATSLeaseValue) throws(NATSClusterError) {
    let previous = value
    try access { () throws(NATSClusterError) in
      if revision == nil { try findRevision() }
      guard membership == .joined else { throw notJoinedError }
      value = changed
      do throws(NATSClusterError) {
        if try writeKey() { return }
        throw NATSClusterError(connection.endpoint, "another server wrote this server's lease")
      } catch {
        (value, revision) = (previous, nil)
        throw error
      }
    }
  }

  /// Writes the key when this server joins.
  private func writeFirstKey() throws(NATSClusterError) {
    guard let value else { return }
    try access { () throws(NATSClusterError) in
      revision = try keys.entry(of: Self.key(of: value.server))?.lastSequence ?? 0
      guard try writeKey() else {
        revision = nil
        throw NATSClusterError(connection.endpoint, "another server wrote this server's lease")
      }
    }
  }

  /// Deletes the key of this server, until it joins again. The deletion has no value, by which the
  /// other servers know that the lease has ended.
  func withdraw() {
    defer { (membership, revision) = (.outside, nil) }
    quorum?.end()
    guard membership != .outside, membership != .lost, let value else { return }
    leaseValidity.revoke()
    // If that fails, the others find out after some seconds.
    let key = Self.key(of: value.server)
    var last = revision
    if last == nil, let entry = try? keys.entry(of: key), !entry.message.isDeletion {
      last = entry.lastSequence
    }
    if let last { _ = try? keys.put([], as: key, after: last, isDeletion: true) }
  }

  /// Deletes the key of this server, which ends.
  func leave() {
    renewalTask?.cancel()
    renewalTask = nil
    withdraw()
    value = nil
  }

  private func renew() async {
    if mustCompare, await !compareAgain() { return }
    guard membership == .joining || membership == .joined else { return }
    do throws(NATSClusterError) {
      if revision == nil { try findRevision() }
      // The last call may have lasted long.
      if membership == .lost || mustCompare { return }
      // A message after the same revision is a late one of this server's own, or one of another
      // server.
      if try !writeKey() { try findRevision() }
    } catch {
      // Before the next renewal it is found out whether this one was written.
      revision = nil
      leaseStatus.failure = "\(error)"
    }
  }

  /// Whether the lease could not be renewed for so long that servers with other settings may have
  /// started. After a comparison, this server has no place in the order of servers until it renews it.
  private var mustCompare: Bool {
    membership == .joined && value?.joined != nil
      && leaseValidity.hasExpired(at: NATSClusterClock.nanoseconds)
  }

  /// Compares this server with those that are up; it is the last that has joined now. Returns whether
  /// it may renew its lease. If it could not be compared, the next renewal tries again.
  private func compareAgain() async -> Bool {
    guard var changed = value else { return false }
    changed.joined = nil
    membership = .comparing
    comparisonCount += 1
    let comparison = comparisonCount
    do {
      try await checkAgreement(of: changed)
      // It may have left meanwhile, and be joining again.
      guard membership == .comparing, comparison == comparisonCount else { return false }
      membership = .joined
      value?.joined = nil
      return true
    } catch {
      guard membership == .comparing, comparison == comparisonCount else { return false }
      membership = .joined
      guard let conflict = error as? ClusterConflict else { return false }
      withdraw()
      handlers?.conflictFound(conflict)
      return false
    }
  }

  /// Writes the key after its last revision; returns false if that has changed.
  private func writeKey() throws(NATSClusterError) -> Bool {
    guard let value, let revision else { return false }
    let suspendedTime = NATSClusterClock.suspendedTime()
    let sendTime = NATSClusterClock.nanoseconds
    let bytes = value.bytes(lifetime: Self.lifetime)
    guard let number = try keys.put(bytes, as: Self.key(of: value.server), after: revision) else {
      return false
    }
    self.revision = number
    // The order in which keys are written is that in which servers have joined.
    self.value?.joined = value.joined ?? number
    leaseStatus.revision = number
    leaseStatus.failure = nil
    leaseValidity.renew(until: sendTime + NATSQuorum.validity, suspended: suspendedTime)
    quorum?.recordRenewal(sentAt: sendTime + suspendedTime)
    if membership == .joined { handlers?.leaseRenewed() }
    return true
  }

  /// Finds out the result of the last renewal, which got no response: it was written, or the key
  /// belongs to another server.
  private func findRevision() throws(NATSClusterError) {
    guard let value else { return }
    guard let entry = try keys.entry(of: Self.key(of: value.server)), !entry.message.isDeletion
    else {
      return markLost()
    }
    revision = entry.lastSequence
  }

  private func markLost() {
    let wasJoined = membership == .joined
    membership = .lost
    leaseValidity.revoke()
    if wasJoined { handlers?.declaredDown() }
  }

  /// Records that another server has renewed its key.
  func updatePeer(_ server: String, renewalCount: UInt64) {
    if observedRenewals[server]?.revision != renewalCount {
      recordRenewal(server, renewalCount, at: NATSClusterClock.nanoseconds)
    }
  }

  private func recordRenewal(_ server: String, _ revision: UInt64, at now: UInt64) {
    if observedRenewals.count >= Self.maxObservedServers, observedRenewals[server] == nil,
      let oldest = observedRenewals.min(by: { $0.value.since < $1.value.since })?.key
    {
      observedRenewals[oldest] = nil
    }
    observedRenewals[server] = (revision, now)
  }

  /// Returns whether a server is down for certain:
  ///
  /// - It has deleted its key itself. If several nats-servers store the keys, a new leader may return
  ///   an earlier state, so this server writes the deletion again, after the first one.
  /// - Or this server has seen no renewal for as long as a lease lasts, and its voters no signal. Then
  ///   it deletes the key, or another server has.
  func isDown(_ server: String) throws(NATSClusterError) -> Bool {
    let entry: KeyValueBucket.BucketEntry?
    do throws(NATSClusterError) {
      entry = try currentEntry(of: server)
    } catch {
      leaseStatus.failure = "\(error)"
      throw error
    }
    let isHeld = entry.map { !$0.message.isDeletion } ?? false
    if !isHeld, !connection.isReplicated { return true }
    let now = NATSClusterClock.nanoseconds
    let revision = isHeld ? entry?.lastSequence ?? 0 : 0
    var age: UInt64 = 0
    if let known = observedRenewals[server], !isHeld || revision == known.revision {
      age = now - known.since
    } else {
      recordRenewal(server, revision, at: now)
    }
    let hasEnded = hasEnded(leaseOf: server, entry, unchangedFor: age)
    guard let entry else { return hasEnded }
    let isReleased = !isHeld && entry.message.bytes.isEmpty
    guard hasEnded || isReleased else { return false }
    if hasEnded, !isHeld { return true }
    // Otherwise it is up after all, or another server has written the key: the next call finds out.
    // The deletion by another server keeps the value, which says who the server's voters were.
    return try keys.put(
      entry.message.bytes, as: Self.key(of: server), after: entry.lastSequence, isDeletion: true)
      != nil
  }

  /// Whether a lease has ended, by what this server knows of its renewals and signals. `age` is in
  /// nanoseconds.
  private func hasEnded(
    leaseOf server: String, _ entry: KeyValueBucket.BucketEntry?, unchangedFor age: UInt64
  ) -> Bool {
    // Without the value it is not known whether the server has voters.
    guard let bytes = entry?.message.bytes else { return age > NATSQuorum.maxLifetime }
    let voters = NATSLeaseValue(bytes)?.voters ?? []
    guard !voters.isEmpty, age <= NATSQuorum.maxLifetime else { return age > NATSQuorum.lifetime }
    return quorum?.hasEnded(leaseOf: server, voters: voters, unchangedFor: age) == true
  }

  /// Returns the entry of a server's key; nil if there is none according to all that was
  /// acknowledged.
  private func currentEntry(
    of server: String
  ) throws(NATSClusterError) -> KeyValueBucket.BucketEntry? {
    let key = Self.key(of: server)
    if let entry = try keys.entry(of: key), !entry.message.isDeletion { return entry }
    guard connection.isReplicated else { return nil }
    try keys.synchronize()
    return try keys.entry(of: key)
  }

  /// Keys allow fewer characters than names; the bytes of a name in hex are letters and digits.
  private static func key(of server: String) -> String {
    "server." + server.utf8.hex
  }
}

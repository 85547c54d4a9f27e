import WaySession
import WayStore

/// Holds this server's lease, a key that it renews, and finds out which other servers are down.
///
/// The key is written by compare-and-set. A server that sees another's key unchanged for longer
/// than a lease deletes it; that server cannot renew it any more. No clock of another machine
/// matters, and none that can be set: each server measures by its own monotonic clock how long it
/// has seen no renewal.
actor NATSServerLeases {
  /// A server that has not renewed its lease for so long is down.
  private static let lifetime: Duration = .seconds(4)
  /// How long a server may treat its sessions as its own after it has sent a renewal, in
  /// nanoseconds. It is shorter than ``lifetime``, since the renewal arrived later.
  private static let validity: UInt64 = 3_500_000_000
  private static let renewalInterval: Duration = .seconds(1)
  /// How long the keys of servers that are down are kept.
  private static let keyLifetime: Duration = .seconds(86_400)

  private let queue = SQLiteWorkQueue("waybridge.leases")
  private let connection: NATSConnection
  private let keys: KeyValueBucket
  nonisolated let leaseValidity: SessionLeaseValidity
  private nonisolated let leaseStatus: NATSLeaseStatus
  private var server: String?
  /// The value of this server's key.
  private var value: NATSLeaseValue?
  /// The revision of this server's key; nil if it is not known.
  private var revision: UInt64?
  private var renewalTask: Task<Void, Never>?
  private var handlers: ClusterHandlers?
  private var isLost = false
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
      connection.names.leaseBucket, description: "Leases of Waybridge, form 4",
      replicas: configuration.replicas, lifetime: Self.keyLifetime, on: connection)
    self.leaseValidity = leaseValidity
    self.leaseStatus = leaseStatus
  }

  /// Joins as the server of a lease. Throws if the key cannot be written, or if this server must not
  /// share sessions with another one; its key is deleted then. Call ``begin(_:)`` afterwards.
  func join(with value: NATSLeaseValue) async throws {
    server = value.server
    self.value = value
    // Of two servers that start at the same time, at least one sees the key of the other.
    try rejoin()
    do {
      try await checkAgreement(of: value)
      if isLost {
        throw NATSClusterError(
          connection.endpoint, "another server declared this one failed while it started")
      }
    } catch {
      leave()
      throw error
    }
  }

  /// Renews the lease from now on, until ``leave()``. The other servers learn of this one by the
  /// first renewal, which is reported to `handlers` at once.
  func begin(_ handlers: ClusterHandlers) {
    self.handlers = handlers
    handlers.leaseRenewed()
    renewalTask = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.renewalInterval)
        guard let self else { return }
        await self.renew()
      }
    }
  }

  /// Throws if another server is up that this one must not share sessions with.
  private func checkAgreement(of value: NATSLeaseValue) async throws {
    var conflicts = NATSLeaseConflicts(of: value, with: try keys.currentValues())
    let start = NATSClusterClock.nanoseconds
    let limit = UInt64((Self.lifetime + Self.renewalInterval) / .nanoseconds(1))
    while !conflicts.servers.isEmpty, NATSClusterClock.nanoseconds - start < limit {
      for other in conflicts.servers {
        if let conflict = conflicts.update(other, try keys.entry(of: Self.key(of: other))) {
          throw NATSClusterError(connection.endpoint, conflict.reason, advice: conflict.advice)
        }
      }
      try await Task.sleep(for: Self.renewalInterval / 4)
      renew()
    }
  }

  /// Publishes the names of other secrets that this server has. Throws, with nothing changed, if a
  /// server that is up could not exchange messages with it then.
  func replaceSecrets(_ names: [String]) async throws {
    guard var changed = value, server != nil else {
      throw NATSClusterError(connection.endpoint, "this server has not joined its cluster")
    }
    changed.secrets = names
    try await checkAgreement(of: changed)
    value = changed
    renew()
  }

  /// Joins again like ``join(with:)``, after this server was declared down.
  func rejoin() throws(NATSClusterError) {
    guard let server else { return }
    let entry = try keys.entry(of: Self.key(of: server))
    isLost = false
    revision = entry?.lastSequence ?? 0
    guard try writeKey() else {
      revision = nil
      throw NATSClusterError(connection.endpoint, "another server wrote this server's lease")
    }
  }

  /// Deletes the key of this server.
  func leave() {
    renewalTask?.cancel()
    renewalTask = nil
    leaseValidity.revoke()
    guard let server, let revision else { return }
    self.server = nil
    // If that fails, the others find out after some seconds.
    _ = try? keys.put([], as: Self.key(of: server), after: revision, isDeletion: true)
  }

  private func renew() {
    guard server != nil, !isLost else { return }
    do throws(NATSClusterError) {
      if revision == nil { try findRevision() }
      if isLost { return }
      // A message after the same revision is a late one of this server's own, or one of another
      // server.
      if try !writeKey() { try findRevision() }
    } catch {
      // Before the next renewal it is found out whether this one was written.
      revision = nil
      leaseStatus.failure = "\(error)"
    }
  }

  /// Writes the key after its last revision; returns false if that has changed.
  private func writeKey() throws(NATSClusterError) -> Bool {
    guard let server, let revision else { return false }
    let suspendedTime = NATSClusterClock.suspendedTime()
    let sendTime = NATSClusterClock.nanoseconds
    let bytes = value?.bytes(lifetime: Self.lifetime) ?? []
    guard let number = try keys.put(bytes, as: Self.key(of: server), after: revision) else {
      return false
    }
    self.revision = number
    leaseStatus.revision = number
    leaseStatus.failure = nil
    leaseValidity.renew(until: sendTime + Self.validity, suspended: suspendedTime)
    handlers?.leaseRenewed()
    return true
  }

  /// Finds out the result of the last renewal, which got no response: it was written, or the key
  /// belongs to another server.
  private func findRevision() throws(NATSClusterError) {
    guard let server else { return }
    guard let entry = try keys.entry(of: Self.key(of: server)), !entry.message.isDeletion else {
      return markLost()
    }
    revision = entry.lastSequence
  }

  private func markLost() {
    isLost = true
    leaseValidity.revoke()
    handlers?.declaredDown()
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

  /// Returns whether a server is down for certain. This server must have seen no renewal for as
  /// long as a lease lasts, and the key must be missing, or this server must have deleted it. If
  /// one nats-server stores the keys, a missing key is enough. With several, a new leader may
  /// return an earlier state.
  func isDown(_ server: String) throws(NATSClusterError) -> Bool {
    let key: UInt64?
    do throws(NATSClusterError) {
      key = try self.revision(of: server)
    } catch {
      leaseStatus.failure = "\(error)"
      throw error
    }
    let now = NATSClusterClock.nanoseconds
    if key == nil, !connection.isReplicated { return true }
    guard let known = observedRenewals[server], key == nil || key == known.revision else {
      recordRenewal(server, key ?? 0, at: now)
      return false
    }
    guard now - known.since > UInt64(Self.lifetime / .nanoseconds(1)) else { return false }
    guard let key else { return true }
    // Otherwise it is up after all, or another server has deleted the key: the next call finds out.
    return try keys.put([], as: Self.key(of: server), after: key, isDeletion: true) != nil
  }

  /// Returns the revision of a server's key; nil if there is none according to all that was
  /// acknowledged.
  private func revision(of server: String) throws(NATSClusterError) -> UInt64? {
    func currentRevision() throws(NATSClusterError) -> UInt64? {
      try keys.entry(of: Self.key(of: server)).flatMap {
        $0.message.isDeletion ? nil : $0.lastSequence
      }
    }
    if let revision = try currentRevision() { return revision }
    guard connection.isReplicated else { return nil }
    try keys.synchronize()
    return try currentRevision()
  }

  /// Keys allow fewer characters than names; the bytes of a name in hex are letters and digits.
  private static func key(of server: String) -> String {
    "server." + server.utf8.hex
  }
}

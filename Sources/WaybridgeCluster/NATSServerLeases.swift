import WayRPC
import WaySession
import WayStore
import WayValues

/// Tells the other servers that this one is there, by a key that it renews, and finds out which of
/// the others are gone.
///
/// The key is written by compare-and-set: who finds it unchanged for longer than a tenure takes it
/// away, and its server cannot renew it any more. No clock of another machine matters, and none that
/// can be set: each measures by its own how long it has seen nothing new.
actor NATSServerLeases {
  /// A server that has renewed nothing for so long is gone.
  private static let lifetime: Duration = .seconds(4)
  /// How long it may take its sessions for its own after a renewal was sent: less, since that came
  /// later.
  private static let tenure: UInt64 = 3_500_000_000
  private static let renewal: Duration = .seconds(1)
  /// How long the keys of those that are gone are kept.
  private static let memory: Duration = .seconds(86_400)

  private let queue = SQLiteWorkQueue("waybridge.leases")
  private let connection: NATSConnection
  private let keys: KeyValueBucket
  nonisolated let tenure: Tenure
  private nonisolated let shared: SharedLease
  private var server: String?
  /// The revision of the own key; nil where it is not known.
  private var revision: UInt64?
  private var renewals: Task<Void, Never>?
  private var handlers: ClusterHandlers?
  private var isLost = false
  /// How long each other key has had its revision, as far as this server has seen.
  private var seen: [String: (revision: UInt64, since: UInt64)] = [:]
  /// Of so many servers.
  private static let maxSeen = 10_000

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ address: NATSAddress, tenure: Tenure, _ shared: SharedLease, replicas: Int)
    throws(NATSClusterError)
  {
    connection = try NATSConnection(address, patience: .seconds(1))
    keys = try KeyValueBucket(
      "waybridge-servers", description: "Leases of Waybridge, form 4", replicas: replicas,
      lifetime: Self.memory, on: connection)
    self.tenure = tenure
    self.shared = shared
  }

  /// The server is there from now on. Throws where that cannot be written.
  func join(as server: String, _ handlers: ClusterHandlers) throws(NATSClusterError) {
    self.server = server
    self.handlers = handlers
    try rejoin()
    renewals = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.renewal)
        guard let self else { return }
        await self.renew()
      }
    }
  }

  /// As after ``join(as:_:)``, for who was lost.
  func rejoin() throws(NATSClusterError) {
    guard let server else { return }
    let entry = try keys.entry(of: Self.key(of: server))
    isLost = false
    revision = entry?.end ?? 0
    guard try write() else {
      revision = nil
      throw NATSClusterError(connection.place, "the lease of the server is written by another")
    }
  }

  /// The server is not there any more.
  func leave() {
    renewals?.cancel()
    renewals = nil
    tenure.lost()
    guard let server, let revision else { return }
    self.server = nil
    // Others find out in some seconds where it cannot be told.
    _ = try? keys.put([], as: Self.key(of: server), after: revision, isDeletion: true)
  }

  private func renew() {
    guard server != nil, !isLost else { return }
    do throws(NATSClusterError) {
      if revision == nil { try findRevision() }
      if isLost { return }
      // What was written after the same revision is one that was given up and came late, or another's.
      if try !write() { try findRevision() }
    } catch {
      // Whether it was written is found out before the next.
      revision = nil
      shared.failure = "\(error)"
    }
  }

  /// Writes the key after its last revision; false where that was another.
  private func write() throws(NATSClusterError) -> Bool {
    guard let server, let revision else { return false }
    let asleep = ClusterClock.suspension()
    let sent = ClusterClock.nanoseconds
    let value: Value = [
      "server": .string(server),
      "lifetimeMs": .integer(Int64(Self.lifetime / .milliseconds(1))),
    ]
    let bytes = Array((try? JSON.text(value))?.utf8 ?? "{}".utf8)
    guard let number = try keys.put(bytes, as: Self.key(of: server), after: revision) else {
      return false
    }
    self.revision = number
    shared.renewal = number
    shared.failure = nil
    tenure.renewed(until: sent + Self.tenure, asleep: asleep)
    handlers?.renewed()
    return true
  }

  /// What the last renewal, of which nothing was heard, came to: it is there, or the key is another's.
  private func findRevision() throws(NATSClusterError) {
    guard let server else { return }
    guard let entry = try keys.entry(of: Self.key(of: server)), !entry.message.isDeletion else {
      return wasTaken()
    }
    revision = entry.end
  }

  private func wasTaken() {
    isLost = true
    tenure.lost()
    handlers?.lost()
  }

  /// Another server was heard to have renewed its key.
  func heard(_ server: String, renewal: UInt64) {
    if seen[server]?.revision != renewal { see(server, renewal, at: ClusterClock.nanoseconds) }
  }

  private func see(_ server: String, _ revision: UInt64, at now: UInt64) {
    if seen.count >= Self.maxSeen, seen[server] == nil,
      let oldest = seen.min(by: { $0.value.since < $1.value.since })?.key
    {
      seen[oldest] = nil
    }
    seen[server] = (revision, now)
  }

  /// Whether a server is gone for certain: this one has seen nothing new of it for as long as a lease
  /// lasts, and it has no key, or this one has taken that away. That it has none is enough where one
  /// engine keeps them; of several, one that became the leader a moment ago may tell what was before.
  func isGone(_ server: String) throws(NATSClusterError) -> Bool {
    let key: UInt64?
    do throws(NATSClusterError) {
      key = try self.revision(of: server)
    } catch {
      shared.failure = "\(error)"
      throw error
    }
    let now = ClusterClock.nanoseconds
    if key == nil, !connection.isReplicated { return true }
    guard let known = seen[server], key == nil || key == known.revision else {
      see(server, key ?? 0, at: now)
      return false
    }
    guard now - known.since > UInt64(Self.lifetime / .nanoseconds(1)) else { return false }
    guard let key else { return true }
    // Else it is there after all, or another has taken the key away: that is looked at next.
    return try keys.put([], as: Self.key(of: server), after: key, isDeletion: true) != nil
  }

  /// The revision of a server's key; nil where there is none, as far as all that was acknowledged says.
  private func revision(of server: String) throws(NATSClusterError) -> UInt64? {
    func look() throws(NATSClusterError) -> UInt64? {
      try keys.entry(of: Self.key(of: server)).flatMap { $0.message.isDeletion ? nil : $0.end }
    }
    if let revision = try look() { return revision }
    guard connection.isReplicated else { return nil }
    try keys.settle()
    return try look()
  }

  /// Keys do not have all of what a name may have; its bytes in hex are letters and digits.
  private static func key(of server: String) -> String {
    "server."
      + server.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

import WaySession
import WayStore
import WayTransport

/// The engine of a cluster that is NATS with JetStream (nats-server 2.9 or later).
///
/// It has connections of their own for the sessions that are written, for leases, for looking up, and
/// for messages, so that none waits for another.
final class NATSCluster: ClusterEngine {
  let store: any SharedSessionStore
  let tenure = Tenure(suspension: ClusterClock.suspension)
  private let leases: NATSServerLeases
  private let lookups: Lookups
  private let post: NATSMessenger
  private let lease = SharedLease()
  private let bereft = Locked<(@Sendable () -> Void)?>(nil)

  init(_ address: NATSAddress, replicas: Int) throws {
    leases = try NATSServerLeases(address, tenure: tenure, lease, replicas: replicas)
    lookups = try Lookups(address, replicas: replicas)
    store = try JetStreamSessionStore(address, replicas: replicas, leases, lookups) { [bereft] in
      bereft.withLock { $0 }?()
    }
    post = try NATSMessenger(address)
  }

  var maxMessage: Int { post.maxMessage }
  var failure: String? { lease.failure }
  var renewal: UInt64 { lease.renewal }

  func join(as server: String, _ handlers: ClusterHandlers) async throws {
    bereft.withLock { $0 = handlers.bereft }
    try post.listen(as: server, received: handlers.received, cutOff: handlers.cutOff)
    try await leases.join(as: server, handlers)
  }

  func rejoin() async throws { try await leases.rejoin() }

  func leave() async {
    await leases.leave()
    post.end()
  }

  func heard(_ server: String, renewal: UInt64) {
    Task { await leases.heard(server, renewal: renewal) }
  }

  func isGone(_ server: String) async throws -> Bool { try await leases.isGone(server) }

  func owner(of session: String) async throws -> Ownership {
    try await lookups.owner(of: session)
  }

  func send(_ message: [UInt8], to server: String?) { post.send(message, to: server) }

  func document(_ name: String) async throws -> (bytes: [UInt8], revision: UInt64)? {
    try await lookups.document(name)
  }

  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) async throws -> UInt64? {
    try await lookups.put(bytes, as: name, after: revision)
  }
}

extension Cluster {
  /// The servers that have the same engine: NATS with JetStream at `nats`, which is
  /// `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…`; several engines of one cluster have commas
  /// between them. `replicas` is how many of them keep each session, table and lease: 1, 3 or 5; it
  /// counts where the first server makes the streams.
  ///
  /// Connects, and blocks meanwhile. Throws ``ClusterError``, which says what to do: where no engine
  /// answers, it has no JetStream, or its streams are another's.
  public init(nats url: String, replicas: Int = 1) throws {
    let address = try NATSAddress(url)
    guard [1, 3, 5].contains(replicas) else {
      throw NATSClusterError(
        address.place, "\(replicas) engines cannot keep each session",
        advice: "give 1, 3 or 5 replicas: with one engine of three gone, the others still agree")
    }
    self.init(try NATSCluster(address, replicas: replicas))
  }
}

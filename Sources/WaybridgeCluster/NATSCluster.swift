import WaySession
import WayStore
import WayTransport

/// A `ClusterEngine` that uses NATS with JetStream (nats-server 2.9 or later).
///
/// It has separate connections for writing sessions, leases, lookups, and messages, so that none
/// waits for another.
final class NATSCluster: ClusterEngine {
  let store: any SharedSessionStore
  let leaseValidity = SessionLeaseValidity(suspendedTime: NATSClusterClock.suspendedTime)
  private let leases: NATSServerLeases
  private let directory: NATSClusterDirectory
  private let messenger: NATSMessenger
  private let leaseStatus = NATSLeaseStatus()
  private let dataLost = Locked<(@Sendable () -> Void)?>(nil)

  init(_ address: NATSAddress, replicas: Int) throws {
    leases = try NATSServerLeases(
      address, leaseValidity: leaseValidity, leaseStatus, replicas: replicas)
    directory = try NATSClusterDirectory(address, replicas: replicas)
    store = try JetStreamSessionStore(address, replicas: replicas, leases, directory) {
      [dataLost] in
      dataLost.withLock { $0 }?()
    }
    messenger = try NATSMessenger(address)
  }

  var maxMessage: Int { messenger.maxMessage }
  var failure: String? { leaseStatus.failure }
  var renewalCount: UInt64 { leaseStatus.revision }

  func join(as server: String, _ handlers: ClusterHandlers) async throws {
    dataLost.withLock { $0 = handlers.dataLost }
    try messenger.listen(
      as: server, messageReceived: handlers.messageReceived, messagesLost: handlers.messagesLost)
    try await leases.join(as: server, handlers)
  }

  func rejoin() async throws { try await leases.rejoin() }

  func leave() async {
    await leases.leave()
    messenger.end()
  }

  func updatePeer(_ server: String, renewalCount: UInt64) {
    Task { await leases.updatePeer(server, renewalCount: renewalCount) }
  }

  func isDown(_ server: String) async throws -> Bool { try await leases.isDown(server) }

  func owner(of session: String) async throws -> Ownership {
    try await directory.owner(of: session)
  }

  func send(_ message: [UInt8], to server: String?) { messenger.send(message, to: server) }

  func document(_ name: String) async throws -> (bytes: [UInt8], revision: UInt64)? {
    try await directory.document(name)
  }

  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) async throws -> UInt64? {
    try await directory.put(bytes, as: name, after: revision)
  }
}

extension Cluster {
  /// Creates a cluster of the servers that use the same NATS with JetStream. The URL is
  /// `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…`; several nats-servers of one cluster are
  /// separated by commas. `replicas` is how many nats-servers store each session, table and lease:
  /// 1, 3 or 5. It only has an effect when the first server creates the streams.
  ///
  /// Connects, and blocks meanwhile. Throws a ``NATSClusterError`` with advice if no nats-server
  /// responds, if it has no JetStream, or if its streams belong to another program.
  public init(nats url: String, replicas: Int = 1) throws {
    let address = try NATSAddress(url)
    guard [1, 3, 5].contains(replicas) else {
      throw NATSClusterError(
        address.endpoint, "\(replicas) is not a valid number of replicas",
        advice: "use 1, 3 or 5 replicas, so that a majority remains if one nats-server fails")
    }
    self.init(try NATSCluster(address, replicas: replicas))
  }
}

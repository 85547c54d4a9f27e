import Logging
import WayCrypto
import WaySession
import WayStore
import WayTransport
import Waybridge

/// A `ClusterEngine` that uses NATS with JetStream (nats-server 2.9 or later).
///
/// It has separate connections for writing sessions, leases, lookups, and messages, so that none
/// waits for another.
final class NATSCluster: ClusterEngine {
  let store: any SharedSessionStore
  let leaseValidity = SessionLeaseValidity(suspendedTime: NATSClusterClock.suspendedTime)
  private let leases: NATSServerLeases
  /// Tokens are long random strings: the key only separates clusters.
  private let digestKey: MessageAuthenticationKey
  private let directory: NATSClusterDirectory
  private let messenger: NATSMessenger
  private let secretFile: NATSClusterSecretFile?
  private let configuration: NATSClusterConfiguration
  private let leaseStatus = NATSLeaseStatus()
  private let storageOutdated = Locked<(@Sendable () -> Void)?>(nil)

  init(_ configuration: NATSClusterConfiguration) throws {
    digestKey = MessageAuthenticationKey(
      Array("waybridge token digest\0\(configuration.names.cluster)".utf8))
    leases = try NATSServerLeases(
      configuration, leaseValidity: leaseValidity, leaseStatus)
    directory = try NATSClusterDirectory(configuration)
    store = try JetStreamSessionStore(configuration, leases, directory) { [storageOutdated] in
      storageOutdated.withLock { $0 }?()
    }
    messenger = try NATSMessenger(configuration)
    secretFile = configuration.secretFile
    self.configuration = configuration
  }

  var maxMessage: Int { messenger.maxMessage }
  var protectsMessages: Bool { messenger.sealsMessages }
  var secretNames: [String] { messenger.secretNames }
  var failure: String? { leaseStatus.failure }
  var renewalCount: UInt64 { leaseStatus.revision }
  var voters: (connected: Int, all: Int)? {
    leases.quorum.map { ($0.connectedCount, $0.voters.count) }
  }

  func join(
    as server: String, _ announcement: ClusterAnnouncement, _ handlers: ClusterHandlers
  ) async throws {
    guard !announcement.needsProtectedMessages || messenger.sealsMessages else {
      throw NATSClusterError(
        messenger.endpoint,
        "a server with tokens or a policy needs a secret that protects messages between servers",
        advice: "give all servers of the cluster the same secret file (--cluster-secret-file)")
    }
    storageOutdated.withLock { $0 = handlers.storageOutdated }
    do {
      try await leases.join(
        with: NATSLeaseValue(
          server: server, announcement: announcement, secrets: messenger.secretNames),
        delayed: handlers.joinDelayed)
    } catch let conflict as ClusterConflict {
      throw NATSClusterError(messenger.endpoint, conflict.reason, advice: conflict.advice)
    }
    // No message is received before the servers are known to agree.
    do {
      try messenger.listen(as: server, handlers)
    } catch {
      await leases.leave()
      throw error
    }
    await leases.begin(handlers)
  }

  func rejoin(
    _ announcement: ClusterAnnouncement, _ joined: @escaping @Sendable () -> Void
  ) async throws {
    try await leases.rejoin(announcement, joined)
  }

  func withdraw() async { await leases.withdraw() }

  func reloadSecrets() async -> ClusterSecretReload? {
    guard let secretFile else { return nil }
    let path = secretFile.path
    do {
      let previous = secretFile.secrets
      let secrets = try secretFile.read()
      guard secrets.names != previous.names else { return ClusterSecretReload(path: path) }
      if let first = previous.names.first, !secrets.names.contains(first) {
        throw FileError(
          path: path,
          reason:
            "lacks the secret \(first) that protects stored sessions; list it after the new one")
      }
      try await leases.replaceSecrets(secrets.names) { [messenger] in
        guard messenger.use(secrets) else {
          throw FileError(path: path, reason: "cannot be used: memory is short")
        }
        secretFile.secrets = secrets
      }
      // Sessions that are stored with the earlier secret must be readable without it later.
      if secrets.names.first != previous.names.first { storageOutdated.withLock { $0 }?() }
      return ClusterSecretReload(path: path)
    } catch let error as FileError {
      return ClusterSecretReload(path: path, .rejected(error.reason))
    } catch let conflict as ClusterConflict {
      return ClusterSecretReload(path: path, .rejected("\(conflict)"))
    } catch {
      return ClusterSecretReload(path: path, .notCompared("\(error)"))
    }
  }

  func leave() async {
    await leases.leave()
    messenger.end()
  }

  func digest(of token: String, in context: String) -> String? {
    // A context has no zero byte: it is the name of a session or client.
    digestKey.code(of: Array("\(context)\0\(token)".utf8))?.hex
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

extension NATSCluster: BlobClusterEngine {
  func blobStore(
    _ limits: Limits, _ logger: Logger?, _ events: BlobEvents,
    now: @escaping @Sendable () -> Int64
  ) throws -> any BlobStore {
    do throws(NATSClusterError) {
      return try JetStreamBlobStore(configuration, limits, logger, events, now: now)
    } catch {
      throw NATSClusterError(
        error.endpoint, error.reason,
        advice: error.advice
          ?? "allow its user the subjects of \(configuration.names.blobBucket), or disable blobs",
        code: error.code)
    }
  }
}

extension Cluster {
  /// Creates a cluster of the servers that use the same NATS with JetStream, and the same name.
  ///
  /// Connects, and blocks meanwhile. Throws a ``NATSClusterError`` with advice if a setting is
  /// invalid, if no nats-server responds, if it has no JetStream, or if its streams belong to
  /// another program.
  public init(nats settings: NATSClusterSettings) throws {
    self.init(try NATSCluster(NATSClusterConfiguration(settings)))
  }
}

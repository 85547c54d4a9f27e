import WayTransport

/// The state that the servers of one cluster share: which servers are up, the owner of each
/// session, messages between servers, and documents. All methods may be called from any thread.
package protocol ClusterEngine: Sendable {
  /// The sessions of all servers.
  var store: any SharedSessionStore { get }
  /// How long this server can be sure that no other server has taken over its sessions.
  var leaseValidity: SessionLeaseValidity { get }
  /// The maximum size of one message, in bytes.
  var maxMessage: Int { get }

  /// Whether messages between servers are encrypted and authenticated, so that others can neither
  /// read nor send them.
  var protectsMessages: Bool { get }
  /// Names of the secrets that protect messages and stored sessions, which do not reveal them. The
  /// first one encrypts, and all decrypt. Empty if there is no secret.
  var secretNames: [String] { get }
  /// Reads the file of the secrets again, and uses them from then on. Leaves those in force if the
  /// file is invalid, if other servers that are up could not decrypt messages of this one, if it
  /// could not decrypt theirs, or if that cannot be found out. Returns nil if there is no file.
  func reloadSecrets() async -> ClusterSecretReload?

  /// Joins the cluster: this server is up from now on, and its lease is renewed repeatedly until
  /// ``leave()``. Calls `handlers`. Throws if the engine cannot be used, or if this server must not
  /// share sessions with the others according to its announcement.
  func join(
    as server: String, _ announcement: ClusterAnnouncement, _ handlers: ClusterHandlers
  ) async throws
  /// Joins again after this server was declared down or has withdrawn. Calls `joined` when it has, and
  /// before any handler for something that has happened since. Throws a ``ClusterConflict`` if this
  /// server must not share sessions with servers that have joined before.
  func rejoin(
    _ announcement: ClusterAnnouncement, _ joined: @escaping @Sendable () -> Void
  ) async throws
  /// Makes this server down for the others at once, which may take over its sessions, until it joins
  /// again.
  func withdraw() async
  /// Leaves the cluster, so that no other server waits for this one.
  func leave() async

  /// Returns a digest by which the servers of the cluster recognize a token that one of them has
  /// issued, and which opens nothing itself. `context` is the session or client that the token is
  /// for. Returns nil if the digest cannot be computed.
  func digest(of token: String, in context: String) -> String?

  /// Why the engine cannot be used; nil if its last response was a success.
  var failure: String? { get }
  /// How many servers of the engine this server is connected to that extend its lease while the
  /// engine cannot be used, and how many there are; nil if its lease is not extended.
  var voters: (connected: Int, all: Int)? { get }
  /// A number that grows with each renewal of this server's lease. Other servers compare it to see
  /// whether this server is still up.
  var renewalCount: UInt64 { get }
  /// Records the ``renewalCount`` that another server has sent.
  func updatePeer(_ server: String, renewalCount: UInt64)
  /// Returns whether another server is down for certain: it has left, or it was silent for longer
  /// than its lease and this or another server has declared it down. It takes some seconds of
  /// repeated calls until this becomes true.
  func isDown(_ server: String) async throws -> Bool
  /// Returns the owner of a session.
  func owner(of session: String) async throws -> Ownership

  /// Sends a message to one server, or to all servers that listen, including this one. Never
  /// blocks; the message may get lost.
  func send(_ message: [UInt8], to server: String?)

  /// Returns a document that all servers share, with its revision; nil if there is none.
  func document(_ name: String) async throws -> (bytes: [UInt8], revision: UInt64)?
  /// Writes a document if its revision is still `revision` (0 for none), and returns its new
  /// revision. Returns nil if the document has another revision.
  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) async throws -> UInt64?
}

extension ClusterEngine {
  /// Whether the last request to the engine succeeded.
  package var isReachable: Bool { failure == nil }
}

/// The callbacks of an engine. It may call them on any thread.
package struct ClusterHandlers: Sendable {
  /// The lease was renewed or extended. This server then sends its presence, so that the others do
  /// not suspect it.
  package let leaseRenewed: @Sendable () -> Void
  /// Another server has declared this one down.
  package let declaredDown: @Sendable () -> Void
  /// The server has waited for some seconds before it joins, and what for.
  package var joinDelayed: @Sendable (String) -> Void = { _ in }
  /// This server has withdrawn, because it must not share sessions with one that has joined before.
  package var conflictFound: @Sendable (ClusterConflict) -> Void = { _ in }
  /// A message for this server has arrived. Messages of one sender arrive in the order in which it
  /// has sent them.
  package let messageReceived: @Sendable ([UInt8]) -> Void
  /// A message was rejected that no server of the cluster has sent to this one just now, and why.
  package var messageRejected: @Sendable (String) -> Void = { _ in }
  /// Messages of a server to all are ignored, because they may be older than this server, until it
  /// has sent a message to this server alone.
  package var unconfirmedSender: @Sendable (String) -> Void = { _ in }
  /// Messages may be missing.
  package let messagesLost: @Sendable () -> Void
  /// All of this server's sessions must be persisted again: stored data is lost, or it is encrypted
  /// with a secret that is being replaced.
  package let storageOutdated: @Sendable () -> Void
}

/// The result of reading the file of a cluster's secrets again.
package struct ClusterSecretReload: Sendable, Hashable {
  /// Which secrets are in force.
  package enum ReloadResult: Sendable, Hashable {
    /// Those of the file.
    case inForce
    /// The previous ones: the file is invalid, or does not fit to the other servers.
    case rejected(String)
    /// The previous ones: those of the file could not be compared with the other servers.
    case notCompared(String)
  }

  package let path: String
  package let result: ReloadResult

  package init(path: String, _ result: ReloadResult = .inForce) {
    self.path = path
    self.result = result
  }
}

/// The owner of a session.
package enum Ownership: Sendable, Equatable {
  /// A server, which may be down.
  case server(String)
  /// The session has no owner: any server may take it over.
  case unowned
  /// There is no such session.
  case notFound
}

/// A cluster of servers that share their sessions. WaybridgeCluster creates one that uses NATS.
public struct Cluster: Sendable {
  package let engine: any ClusterEngine

  package init(_ engine: any ClusterEngine) {
    self.engine = engine
  }
}

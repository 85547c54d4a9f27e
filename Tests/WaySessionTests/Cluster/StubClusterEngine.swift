import Dispatch
import Synchronization
import WayTransport

@testable import WaySession

/// A cluster engine for one server. The test supplies the messages of other servers, or links two
/// engines.
final class StubClusterEngine: ClusterEngine {
  let store: any SharedSessionStore
  /// The owner of all sessions that are not here; `nil` if it cannot be found out.
  let owner: Locked<Ownership?>
  /// The engine that receives all messages to a server that has none in ``links``, in their order.
  let linked = Locked<StubClusterEngine?>(nil)
  /// The engines of further servers, by the names of the servers.
  let links = Locked<[String: StubClusterEngine]>([:])
  let leaseValidity = SessionLeaseValidity { 0 }
  let maxMessage = 1 << 20
  let protectsMessages: Bool
  let secretNames: [String] = []
  /// Why the engine cannot be used; nil if it can.
  let unreachableReason = Locked<String?>(nil)
  var failure: String? { unreachableReason.withLock { $0 } }
  let renewalCount: UInt64 = 1
  /// Why the server may not join again; nil if it may.
  let conflict = Locked<ClusterConflict?>(nil)
  /// How often the server has withdrawn, and has joined again.
  let withdrawalCount = Atomic(0)
  let rejoinCount = Atomic(0)
  /// What happens right after the server has joined again, before it knows.
  let afterRejoin = Locked<(@Sendable () -> Void)?>(nil)
  /// The sent messages: to one server, or to all.
  let sentMessages = Locked<[(bytes: [UInt8], server: String?)]>([])
  /// The documents of the servers.
  let documents = Locked<[String: (bytes: [UInt8], revision: UInt64)]>([:])
  /// Whether no document can be written.
  let isFull = Atomic(false)
  /// How often an owner could not be found out.
  let failedSearches = Atomic(0)
  /// Called with each document that was read, before it is returned.
  private let onRead: @Sendable () async -> Void
  private let handlers = Locked<ClusterHandlers?>(nil)
  private let deliveries = DispatchQueue(label: "waybridge.stub-cluster")
  private let lastSequences = Locked<[String: UInt64]>([:])

  /// Makes `owner` the owner of all sessions.
  init(
    _ store: (any SharedSessionStore)? = nil, owner: Ownership? = .notFound,
    protectsMessages: Bool = true,
    onRead: @escaping @Sendable () async -> Void = {}
  ) {
    self.onRead = onRead
    self.protectsMessages = protectsMessages
    self.store = store ?? EmptySessionStore()
    self.owner = Locked(owner)
  }

  /// Delivers a message from another server. Its presence goes to all servers, and has no number.
  func receive(_ message: SessionClusterMessage, from server: String) {
    let number: UInt64 = lastSequences.withLock { numbers in
      if case .presence = message { return 0 }
      numbers[server, default: 0] += 1
      return numbers[server, default: 0]
    }
    handlers.withLock { $0 }?.messageReceived(
      ClusterEnvelope.bytes(from: server, number, message.bytes))
  }

  func join(
    as server: String, _ announcement: ClusterAnnouncement, _ handlers: ClusterHandlers
  ) {
    renewLease()
    self.handlers.withLock { $0 = handlers }
  }

  var voters: (connected: Int, all: Int)? { nil }

  /// Makes the server's lease valid indefinitely, until it is lost.
  func renewLease() { leaseValidity.renew(until: .max, suspended: 0) }

  func digest(of token: String, in context: String) -> String? {
    "\(context):\(String(token.reversed()))"
  }
  func reloadSecrets() -> ClusterSecretReload? { nil }
  func rejoin(_ announcement: ClusterAnnouncement, _ joined: @Sendable () -> Void) throws {
    if let conflict = conflict.withLock({ $0 }) { throw conflict }
    rejoinCount.add(1, ordering: .relaxed)
    renewLease()
    joined()
    let action = afterRejoin.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }
  func withdraw() {
    withdrawalCount.add(1, ordering: .relaxed)
    leaseValidity.revoke()
  }

  /// Finds a server that must not share sessions with this one, and withdraws.
  func findConflict(_ found: ClusterConflict) {
    leaseValidity.revoke()
    handlers.withLock { $0 }?.conflictFound(found)
  }

  /// Makes another server declare this one down.
  func declareDown() {
    leaseValidity.revoke()
    handlers.withLock { $0 }?.declaredDown()
  }
  func leave() { leaseValidity.revoke() }
  func updatePeer(_ server: String, renewalCount: UInt64) {}
  func isDown(_ server: String) -> Bool { false }
  func owner(of session: String) throws -> Ownership {
    try owner.withLock { owner in
      guard let owner else {
        failedSearches.add(1, ordering: .relaxed)
        throw UnknownOwnerError()
      }
      return owner
    }
  }
  func send(_ message: [UInt8], to server: String?) {
    sentMessages.withLock { $0.append((message, server)) }
    guard let server,
      let linked = links.withLock({ $0[server] }) ?? linked.withLock({ $0 })
    else { return }
    // A node holds a lock while it sends: two that deliver to each other would wait for each other.
    deliveries.async { linked.handlers.withLock { $0 }?.messageReceived(message) }
  }

  func document(_ name: String) async throws -> (bytes: [UInt8], revision: UInt64)? {
    let read = documents.withLock { $0[name] }
    await onRead()
    return read
  }

  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) throws -> UInt64? {
    if isFull.load(ordering: .relaxed) { throw FullError() }
    return documents.withLock { documents in
      guard documents[name]?.revision ?? 0 == revision else { return nil }
      documents[name] = (bytes, revision + 1)
      return revision + 1
    }
  }

  struct FullError: Error {}

  private struct UnknownOwnerError: Error {}

  private struct EmptySessionStore: SharedSessionStore {
    func load(as owner: String) -> [StoredSession] { [] }
    func append(_ changes: [SessionChange]) -> Set<String> { [] }
    func close() {}
    func takeOver(_ session: String) -> StoredSession? { nil }
    func takeOverAll(_ body: @Sendable (StoredSession) async -> Void) -> Set<String> { [] }
  }
}

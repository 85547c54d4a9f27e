import WayTransport
import WayValues

/// Finds the owner of a session that is not on this server, and takes the session over if it has no
/// owner.
actor SessionFinder {
  /// The location of a session.
  enum SessionLocation: Sendable {
    case local
    case server(String)
    case notFound
    /// The location could not be found out, and why: the caller may try again.
    case unknown(String)
  }

  /// Knows the sessions of this server.
  protocol FinderDelegate: AnyObject, Sendable {
    func hasSession(_ session: String) -> Bool
    /// Whether a session was found here that cannot be read.
    func isUnreadable(_ session: String) -> Bool
    /// Whether the server is about to end, and takes no sessions over.
    var isDraining: Bool { get }
    /// Restores a session that was taken over, on a given loop if there is one.
    func restore(_ stored: StoredSession, on loop: (any EventLoop)?) async
  }

  /// How long a search may take.
  private static let searchTimeout: Duration = .seconds(10)
  /// How long a search waits before it tries again.
  private static let retryInterval: Duration = .milliseconds(50)
  /// How long a check waits before it asks the engine whether a server is down.
  private static let downCheckDelay: Duration = .milliseconds(100)
  /// How long it may take until a session that this server owns is restored, or has left it.
  private static let takeoverTimeout: Duration = .seconds(1)
  /// How long a failed takeover is not repeated.
  static let failureBackoff: Duration = .milliseconds(500)
  /// How many searches may run at once.
  private static let maxSearches = 10_000

  private let engine: any ClusterEngine
  private let server: String
  private let peerTable: Locked<PeerTable>
  private let store: SessionStoreQueue
  private weak var delegate: (any FinderDelegate)?
  private var takeovers: [String: Task<Void, any Error>] = [:]
  /// The running checks whether a server is down.
  private var downChecks: [String: Task<Bool, any Error>] = [:]
  private var searchCount = 0
  private let counts: SessionClusterCounts

  init(
    _ engine: any ClusterEngine, _ server: String, _ peerTable: Locked<PeerTable>,
    _ store: SessionStoreQueue, _ counts: SessionClusterCounts
  ) {
    self.counts = counts
    self.engine = engine
    self.server = server
    self.peerTable = peerTable
    self.store = store
  }

  func begin(_ delegate: any FinderDelegate) { self.delegate = delegate }

  /// Finds a session that is not on this server. If it is taken over, it is restored on `loop`,
  /// unless other clients have asked for it first.
  func find(_ session: String, for loop: any EventLoop) async -> SessionLocation {
    guard let delegate else { return .notFound }
    guard searchCount < Self.maxSearches else {
      return .unknown("too many searches for sessions are in progress")
    }
    searchCount += 1
    defer { searchCount -= 1 }
    let begin = ContinuousClock.now
    let end = begin + Self.searchTimeout
    do {
      while ContinuousClock.now < end {
        if delegate.hasSession(session) { return .local }
        switch try await engine.owner(of: session) {
        case .notFound: return .notFound
        case .server(server):
          // It is being taken over, or has just ended and its end is not stored yet.
          if let task = takeovers[session] {
            try await task.value
          } else if ContinuousClock.now > begin + Self.takeoverTimeout {
            // The response that confirmed the takeover may have got lost.
            if delegate.isUnreadable(session) { return .notFound }
            if let other = try await takeOver(session, for: loop, delegate) { return other }
          }
        case .server(let owner):
          let (isFresh, isDraining) = peerTable.withLock { peerTable in
            (
              peerTable.isFresh(owner, at: loop.nanoseconds),
              peerTable.presence(of: owner)?["draining"] == true
            )
          }
          if isFresh, !isDraining { return .server(owner) }
          // One check serves all searches for sessions of that server.
          if !isFresh, try await isDown(owner),
            let other = try await takeOver(session, for: loop, delegate)
          {
            return other
          }
        case .unowned:
          if let other = try await takeOver(session, for: loop, delegate) { return other }
        }
        if delegate.hasSession(session) { return .local }
        try await Task.sleep(for: Self.retryInterval)
      }
      return .unknown("the server that has the session does not answer")
    } catch {
      return .unknown("\(error)")
    }
  }

  /// Returns whether a server is down, after a moment in which its presence may arrive.
  private func isDown(_ owner: String) async throws -> Bool {
    let task =
      downChecks[owner]
      ?? Task {
        defer { downChecks[owner] = nil }
        try await Task.sleep(for: Self.downCheckDelay)
        return try await engine.isDown(owner)
      }
    downChecks[owner] = task
    return try await task.value
  }

  /// Takes over a session that has no owner. If this server is about to end, returns another server
  /// that can take it over.
  private func takeOver(
    _ session: String, for loop: any EventLoop, _ delegate: any FinderDelegate
  ) async throws -> SessionLocation? {
    if delegate.isDraining {
      if let other = peerTable.withLock({ $0.successor(at: loop.nanoseconds) }) {
        return .server(other)
      }
      return .unknown("the server is shutting down")
    }
    guard !engine.leaseValidity.hasExpired(at: loop.nanoseconds) else {
      return .unknown("the server has no valid lease")
    }
    let task =
      takeovers[session]
      ?? Task {
        let stored: StoredSession?
        do { stored = try await store.takeOver(session) } catch {
          // Searches that begin meanwhile share the failure: each read is load for an engine that
          // already has problems.
          try await Task.sleep(for: Self.failureBackoff)
          throw error
        }
        guard let stored else { return }
        counts.takenOverForClients.add()
        await delegate.restore(stored, on: loop)
      }
    takeovers[session] = task
    defer { takeovers[session] = nil }
    try await task.value
    return nil
  }
}

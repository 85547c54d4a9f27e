import WayTransport
import WayValues

/// Finds whose a session is that is not here, and takes it over where it is nobody's any more.
actor SessionFinder {
  /// Where a session is.
  enum Place: Sendable {
    case here
    case server(String)
    case nowhere
    /// It could not be found out, and why: whoever asks may ask again.
    case unknown(String)
  }

  /// Who knows the sessions of this server.
  protocol Home: AnyObject, Sendable {
    func has(_ session: String) -> Bool
    /// Whether a session was found here that cannot be read.
    func isUnreadable(_ session: String) -> Bool
    /// Whether it is about to end, and takes nothing over.
    var isAboutToEnd: Bool { get }
    /// Goes on with a session that was taken over, on a loop where one is named.
    func take(up stored: StoredSession, on loop: (any EventLoop)?) async
  }

  /// How long whoever asks is kept waiting, at most.
  private static let patience: Duration = .seconds(10)
  /// After so long it is looked again.
  private static let pause: Duration = .milliseconds(50)
  /// How often it is asked whether a server is gone.
  private static let doubt: Duration = .milliseconds(100)
  /// How long it may take until a session that is this server's is here, or not its own any more.
  private static let settling: Duration = .seconds(1)
  /// After a session could not be taken over, it is not tried again before so long.
  static let rest: Duration = .milliseconds(500)
  /// How many are looked for at once.
  private static let maxSearches = 10_000

  private let engine: any ClusterEngine
  private let server: String
  private let links: Locked<PeerTable>
  private let store: StoreQueue
  private weak var home: (any Home)?
  private var taking: [String: Task<Void, any Error>] = [:]
  /// Of which servers it is being asked whether they are gone.
  private var asking: [String: Task<Bool, any Error>] = [:]
  private var searches = 0
  private let counts: ClusterCounts

  init(
    _ engine: any ClusterEngine, _ server: String, _ links: Locked<PeerTable>,
    _ store: StoreQueue, _ counts: ClusterCounts
  ) {
    self.counts = counts
    self.engine = engine
    self.server = server
    self.links = links
    self.store = store
  }

  func begin(_ home: any Home) { self.home = home }

  /// Where a session is that is none of this server's; where it is taken over, it is on `loop` then,
  /// unless others have come for it first.
  func find(_ session: String, for loop: any EventLoop) async -> Place {
    guard let home else { return .nowhere }
    guard searches < Self.maxSearches else { return .unknown("too many sessions are looked for") }
    searches += 1
    defer { searches -= 1 }
    let begin = ContinuousClock.now
    let end = begin + Self.patience
    do {
      while ContinuousClock.now < end {
        if home.has(session) { return .here }
        switch try await engine.owner(of: session) {
        case .absent: return .nowhere
        case .server(server):
          // It is being taken over; or has ended a moment ago, which is not written yet.
          if let task = taking[session] {
            try await task.value
          } else if ContinuousClock.now > begin + Self.settling {
            // The answer may have got lost that said it was taken over.
            if home.isUnreadable(session) { return .nowhere }
            if let other = try await take(session, for: loop, home) { return other }
          }
        case .server(let owner):
          let (isFresh, isDraining) = links.withLock { links in
            (
              links.isFresh(owner, at: loop.nanoseconds),
              links.presence(of: owner)?["draining"] == true
            )
          }
          if isFresh, !isDraining { return .server(owner) }
          // One looks for all who come for the sessions of that server.
          if !isFresh, try await isGone(owner),
            let other = try await take(session, for: loop, home)
          {
            return other
          }
        case .nobody:
          if let other = try await take(session, for: loop, home) { return other }
        }
        if home.has(session) { return .here }
        try await Task.sleep(for: Self.pause)
      }
      return .unknown("the server that has the session does not answer")
    } catch {
      return .unknown("\(error)")
    }
  }

  /// Whether a server is gone, after a moment in which it may have told of itself.
  private func isGone(_ owner: String) async throws -> Bool {
    let task =
      asking[owner]
      ?? Task {
        defer { asking[owner] = nil }
        try await Task.sleep(for: Self.doubt)
        return try await engine.isGone(owner)
      }
    asking[owner] = task
    return try await task.value
  }

  /// Takes a session over that is nobody's; where this server is about to end, gives another that
  /// will.
  private func take(
    _ session: String, for loop: any EventLoop, _ home: any Home
  ) async throws -> Place? {
    if home.isAboutToEnd {
      if let other = links.withLock({ $0.successor(at: loop.nanoseconds) }) {
        return .server(other)
      }
      return .unknown("the server is about to end")
    }
    guard !engine.tenure.isOver(at: loop.nanoseconds) else {
      return .unknown("the server has no lease of its own")
    }
    let task =
      taking[session]
      ?? Task {
        let stored: StoredSession?
        do { stored = try await store.take(session) } catch {
          // Who comes meanwhile shares it: each reading costs an engine that is in trouble already.
          try await Task.sleep(for: Self.rest)
          throw error
        }
        guard let stored else { return }
        counts.takenForClients.add()
        await home.take(up: stored, on: loop)
      }
    taking[session] = task
    defer { taking[session] = nil }
    try await task.value
    return nil
  }
}

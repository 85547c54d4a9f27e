import DequeModule
import WayTransport

/// The loops of a server's sessions and of its resumable clients. Safe to use on any thread. The
/// path of a call does not use it.
final class SessionDirectory: Sendable {
  /// The index of a ``LoopSessions`` in its ``SessionServer``.
  typealias LoopIndex = Int

  private struct DirectoryState {
    var sessions: [String: LoopIndex] = [:]
    var clients: [String: LoopIndex] = [:]
    var discarded: Deque<String> = []
  }

  /// The number of discarded clients that are remembered.
  private static let maxDiscarded = 1024

  private let state = Locked(DirectoryState())

  /// The number of sessions.
  var sessionCount: Int { state.withLock { $0.sessions.count } }

  /// The number of clients that may resume.
  var clientCount: Int { state.withLock { $0.clients.count } }

  func add(session: String, at loopIndex: LoopIndex) {
    state.withLock { $0.sessions[session] = loopIndex }
  }

  func remove(session: String) { _ = state.withLock { $0.sessions.removeValue(forKey: session) } }

  func loopIndex(ofSession session: String) -> LoopIndex? {
    state.withLock { $0.sessions[session] }
  }

  func add(client: String, at loopIndex: LoopIndex) {
    state.withLock { $0.clients[client] = loopIndex }
  }

  func remove(client: String) { _ = state.withLock { $0.clients.removeValue(forKey: client) } }

  func loopIndex(ofClient client: String) -> LoopIndex? { state.withLock { $0.clients[client] } }

  /// Records that a client was discarded because its outbox exceeded the limit.
  func recordDiscarded(client: String) {
    state.withLock { state in
      if state.discarded.count == Self.maxDiscarded { state.discarded.removeFirst() }
      state.discarded.append(client)
    }
  }

  /// Whether a client was discarded because its outbox exceeded the limit.
  func wasDiscarded(_ client: String) -> Bool { state.withLock { $0.discarded.contains(client) } }
}

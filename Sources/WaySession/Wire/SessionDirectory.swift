import DequeModule
import WayTransport

/// On which loop each session of a server is, and each client that may resume. May be used on any
/// thread; nothing on the way of a call asks it.
final class SessionDirectory: Sendable {
  /// The place of a hub in its group.
  typealias Place = Int

  private struct State {
    var sessions: [String: Place] = [:]
    var clients: [String: Place] = [:]
    var givenUp: Deque<String> = []
  }

  /// How many clients of those that were given up are remembered.
  private static let maxGivenUp = 1024

  private let state = Locked(State())

  /// How many sessions there are.
  var sessionCount: Int { state.withLock { $0.sessions.count } }

  /// How many clients there are that may resume.
  var clientCount: Int { state.withLock { $0.clients.count } }

  func add(session: String, at place: Place) { state.withLock { $0.sessions[session] = place } }

  func remove(session: String) { _ = state.withLock { $0.sessions.removeValue(forKey: session) } }

  func place(ofSession session: String) -> Place? { state.withLock { $0.sessions[session] } }

  func add(client: String, at place: Place) { state.withLock { $0.clients[client] = place } }

  func remove(client: String) { _ = state.withLock { $0.clients.removeValue(forKey: client) } }

  func place(ofClient client: String) -> Place? { state.withLock { $0.clients[client] } }

  /// Too much waited for a client.
  func giveUp(client: String) {
    state.withLock { state in
      if state.givenUp.count == Self.maxGivenUp { state.givenUp.removeFirst() }
      state.givenUp.append(client)
    }
  }

  /// Whether too much waited for a client.
  func hasGivenUp(_ client: String) -> Bool { state.withLock { $0.givenUp.contains(client) } }
}

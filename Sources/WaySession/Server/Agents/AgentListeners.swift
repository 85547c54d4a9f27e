import WayTransport

/// The streams that report changes of the tools. Usable from any thread.
final class AgentListeners: Sendable {
  private struct ListenerState {
    var lastID = 0
    var listeners: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Locked(ListenerState())

  /// Adds a listener, which is called after each change. Returns the id to remove it.
  func add(_ listener: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.listeners[state.lastID] = listener
      return state.lastID
    }
  }

  /// How many listeners there are.
  var count: Int { state.withLock(\.listeners.count) }

  func remove(_ id: Int) { state.withLock { $0.listeners[id] = nil } }

  /// Notifies all listeners that the table or the policy has changed.
  func toolsChanged() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener() }
  }
}

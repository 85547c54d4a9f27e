import Synchronization
import WayRPC
import WaySession

/// Where the methods of a ``BridgeServer`` find the bridge that its ``BridgeServer/run()`` has begun.
final class RunningSlot: Sendable {
  private enum State {
    case idle
    case starting
    case running(Bridge)
  }

  private let state = Mutex(State.idle)

  /// Fails when the server runs already.
  func start() throws(TaskError) {
    let isFree = state.withLock { state in
      guard case .idle = state else { return false }
      state = .starting
      return true
    }
    guard isFree else {
      throw TaskError(code: ErrorCode.conflict.rawValue, message: "The server runs already")
    }
  }

  func began(_ bridge: Bridge) {
    state.withLock { $0 = .running(bridge) }
  }

  func ended() {
    state.withLock { $0 = .idle }
  }

  /// The bridge; fails with 2503 while there is none.
  func bridge() throws(TaskError) -> Bridge {
    guard case .running(let bridge) = state.withLock({ $0 }) else {
      throw TaskError(
        code: ErrorCode.unavailable.rawValue,
        message: "The server does not run: call this from onListening on, until run() returns")
    }
    return bridge
  }
}

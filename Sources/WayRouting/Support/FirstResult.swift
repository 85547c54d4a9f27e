import Synchronization
import WayValues

/// Waits for the first of several answers, whoever gives it; later ones are dropped.
package final class FirstResult<Value: Sendable>: Sendable {
  private enum State: Sendable {
    case open
    case waiting(CheckedContinuation<Result<Value, any Error>, Never>)
    case given(Result<Value, any Error>)
  }

  private let state = Mutex(State.open)

  package init() {}

  /// May be called from any thread.
  package func give(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Result<Value, any Error>, Never>? = state.withLock { state in
      switch state {
      case .open:
        state = .given(result)
        return nil
      case .waiting(let continuation):
        state = .given(result)
        return continuation
      case .given: return nil
      }
    }
    waiting?.resume(returning: result)
  }

  /// Called once.
  package func value(isolation: isolated (any Actor)? = #isolation) async -> Result<
    Value, any Error
  > {
    await withCheckedContinuation { continuation in
      let given: Result<Value, any Error>? = state.withLock { state in
        if case .given(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      if let given { continuation.resume(returning: given) }
    }
  }
}

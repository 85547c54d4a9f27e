import Synchronization
import WayValues

/// Waits for the first of several results from any source; later ones are dropped.
package final class FirstResult<Value: Sendable>: Sendable {
  private enum FirstResultState: Sendable {
    case pending
    case awaited(CheckedContinuation<Result<Value, any Error>, Never>)
    case completed(Result<Value, any Error>)
  }

  private let state = Mutex(FirstResultState.pending)

  package init() {}

  /// Sets the result, unless there is one. May be called from any thread.
  package func complete(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Result<Value, any Error>, Never>? = state.withLock { state in
      switch state {
      case .pending:
        state = .completed(result)
        return nil
      case .awaited(let continuation):
        state = .completed(result)
        return continuation
      case .completed: return nil
      }
    }
    waiting?.resume(returning: result)
  }

  /// Waits for the result. Must be called only once.
  package func value(isolation: isolated (any Actor)? = #isolation) async -> Result<
    Value, any Error
  > {
    await withCheckedContinuation { continuation in
      let completed: Result<Value, any Error>? = state.withLock { state in
        if case .completed(let result) = state { return result }
        state = .awaited(continuation)
        return nil
      }
      if let completed { continuation.resume(returning: completed) }
    }
  }
}

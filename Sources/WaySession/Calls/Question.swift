import Synchronization
import WayValues

/// Waits for the first of several answers.
final class Question<Success: Sendable>: Sendable {
  private typealias Answer = Result<Success, CallError>

  private enum State {
    case open
    case waiting(CheckedContinuation<Answer, Never>)
    case answered(Answer)
  }

  private let state = Mutex(State.open)

  func answer(_ answer: Result<Success, CallError>) {
    let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      switch state {
      case .answered: return nil
      case .open:
        state = .answered(answer)
        return nil
      case .waiting(let waiting):
        state = .answered(answer)
        return waiting
      }
    }
    waiting?.resume(returning: answer)
  }

  /// To be called once.
  func answer() async -> Result<Success, CallError> {
    await withCheckedContinuation { waiting in
      let answered = state.withLock { state -> Answer? in
        if case .answered(let answer) = state { return answer }
        state = .waiting(waiting)
        return nil
      }
      if let answered { waiting.resume(returning: answered) }
    }
  }
}

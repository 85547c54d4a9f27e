import WayTransport

/// Passes a limited number of lines in a second, and counts the others.
struct LogThrottle: Sendable {
  enum ThrottleDecision: Hashable {
    /// `suppressed` is the number of suppressed lines since the last one that passed.
    case pass(suppressed: Int)
    case suppress
  }

  private struct ThrottleState {
    var windowStart: Duration = .zero
    var passedCount = 0
    var suppressedCount = 0
  }

  static let maxPerSecond = 10
  private let state = Locked(ThrottleState())
  private static let startTime = ContinuousClock.now

  func decide(at time: Duration = ContinuousClock.now - startTime) -> ThrottleDecision {
    state.withLock { state in
      if time - state.windowStart >= .seconds(1) {
        state.windowStart = time
        state.passedCount = 0
      }
      guard state.passedCount < Self.maxPerSecond else {
        state.suppressedCount += 1
        return .suppress
      }
      defer { state.suppressedCount = 0 }
      state.passedCount += 1
      return .pass(suppressed: state.suppressedCount)
    }
  }
}

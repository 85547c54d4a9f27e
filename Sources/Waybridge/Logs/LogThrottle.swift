import WayTransport

/// Lets so many lines pass in a second, and counts the others.
struct LogThrottle: Sendable {
  enum Decision: Hashable {
    /// `leftOut` is how many were before it since the last that was taken.
    case take(leftOut: Int)
    case leaveOut
  }

  private struct State {
    var second: Duration = .zero
    var taken = 0
    var leftOut = 0
  }

  static let perSecond = 10
  private let state = Locked(State())
  private static let began = ContinuousClock.now

  func pass(at time: Duration = ContinuousClock.now - began) -> Decision {
    state.withLock { state in
      if time - state.second >= .seconds(1) {
        state.second = time
        state.taken = 0
      }
      guard state.taken < Self.perSecond else {
        state.leftOut += 1
        return .leaveOut
      }
      defer { state.leftOut = 0 }
      state.taken += 1
      return .take(leftOut: state.leftOut)
    }
  }
}

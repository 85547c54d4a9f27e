import Synchronization

/// Rung whenever something has come about, for those who wait for one thing or another.
final class Bell: Sendable {
  private struct State {
    var rings = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Has all who wait look again.
  func ring() {
    let waiting = state.withLock { state in
      state.rings += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for each in waiting { each.resume() }
  }

  /// Looks at every ring; gives whether something has come about within that time.
  func wait(
    _ patience: Duration, isolation: isolated (any Actor)? = #isolation, until isSo: () -> Bool
  ) async -> Bool {
    let end = ContinuousClock.now + patience
    let alarm = Task {
      try await Task.sleep(until: end)
      ring()
    }
    defer { alarm.cancel() }
    while true {
      let heard = state.withLock { $0.rings }
      if isSo() { return true }
      if ContinuousClock.now >= end { return false }
      await next(after: heard)
    }
  }

  /// Returns at the next ring after so many.
  private func next(
    after rings: Int, isolation: isolated (any Actor)? = #isolation
  ) async {
    await withCheckedContinuation { continuation in
      let isRung = state.withLock { state in
        if state.rings == rings { state.waiting.append(continuation) }
        return state.rings != rings
      }
      if isRung { continuation.resume() }
    }
  }
}

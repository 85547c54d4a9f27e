import Synchronization

/// A condition variable for tasks: waiting tasks check their predicate at each notification.
final class ReplayCondition: Sendable {
  private struct ConditionState {
    var notificationCount = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(ConditionState())

  /// Makes all waiting tasks check their predicates again.
  func notifyAll() {
    let waiters = state.withLock { state in
      state.notificationCount += 1
      defer { state.waiters = [] }
      return state.waiters
    }
    for continuation in waiters { continuation.resume() }
  }

  /// Waits until the predicate is true, checking it at each notification. Returns whether it became
  /// true within `timeout`.
  func wait(
    _ timeout: Duration, isolation: isolated (any Actor)? = #isolation, until predicate: () -> Bool
  ) async -> Bool {
    let end = ContinuousClock.now + timeout
    let timer = Task {
      try await Task.sleep(until: end)
      notifyAll()
    }
    defer { timer.cancel() }
    while true {
      let lastCount = state.withLock { $0.notificationCount }
      if predicate() { return true }
      if ContinuousClock.now >= end { return false }
      await waitForNotification(after: lastCount)
    }
  }

  /// Returns at the first notification after `lastCount`.
  private func waitForNotification(
    after lastCount: Int, isolation: isolated (any Actor)? = #isolation
  ) async {
    await withCheckedContinuation { continuation in
      let isNotified = state.withLock { state in
        if state.notificationCount == lastCount { state.waiters.append(continuation) }
        return state.notificationCount != lastCount
      }
      if isNotified { continuation.resume() }
    }
  }
}

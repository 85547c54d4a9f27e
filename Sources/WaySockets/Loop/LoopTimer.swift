import CLibuv
import WayTransport

/// Work that waits on a loop's clock (uv_timer).
final class LoopTimer: ScheduledWork {
  private struct State {
    var work: (@Sendable () -> Void)?
  }

  private let state: Locked<State>
  let loop: SocketLoop
  /// The key of the timer's handle in the loop's table of timers.
  let id: UInt64

  init(loop: SocketLoop, id: UInt64, work: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.id = id
    state = Locked(State(work: work))
  }

  /// The work, for the first who asks.
  func take() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let work = state.work
      state.work = nil
      return work
    }
  }

  func cancel() {
    guard take() != nil else { return }
    loop.execute { [loop, id] in loop.removeTimer(id) }
  }
}

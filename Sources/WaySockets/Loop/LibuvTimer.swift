import CLibuv
import WayTransport

/// Work that waits on a loop's clock (uv_timer).
final class LibuvTimer: ScheduledWork {
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

extension SocketLoop {
  /// uv_hrtime
  package var nanoseconds: UInt64 { uv_hrtime() }
}

extension Duration {
  /// Rounded up, and zero for the past; what does not fit is the longest libuv can wait.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    if overflows { return .max / 2 }
    return whole + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

import CLibuv
import WayTransport

/// Work scheduled on a loop's clock (uv_timer).
final class LibuvTimer: ScheduledWork {
  private struct TimerState {
    var work: (@Sendable () -> Void)?
  }

  private let state: Locked<TimerState>
  let loop: SocketLoop
  /// The key of the timer's handle in the loop's timers.
  let id: UInt64

  init(loop: SocketLoop, id: UInt64, work: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.id = id
    state = Locked(TimerState(work: work))
  }

  /// Returns the work to the first caller only, and `nil` afterwards.
  func claim() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let work = state.work
      state.work = nil
      return work
    }
  }

  func cancel() {
    guard claim() != nil else { return }
    loop.execute { [loop, id] in loop.removeTimer(id) }
  }
}

extension SocketLoop {
  /// The time of uv_hrtime, in nanoseconds.
  package var nanoseconds: UInt64 { uv_hrtime() }
}

extension Duration {
  /// The duration in milliseconds, rounded up; zero if negative. A duration that does not fit
  /// becomes the longest that libuv supports.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    if overflows { return .max / 2 }
    return whole + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

import Glibc

/// The clock of the event loops (`uv_hrtime`). It cannot be set, and advances while the process is
/// stopped. It stands still while the machine is suspended (clock_gettime(2)).
enum NATSClusterClock {
  static var nanoseconds: UInt64 { now(CLOCK_MONOTONIC) }

  /// For how many nanoseconds the machine was suspended since it started.
  static func suspendedTime() -> UInt64 {
    let awake = nanoseconds
    return now(CLOCK_BOOTTIME) &- awake
  }

  /// The clock with the time for which the machine was suspended.
  static var boottime: UInt64 { now(CLOCK_BOOTTIME) }

  /// The wall clock, in milliseconds since 1970-01-01 UTC.
  static var wallMilliseconds: UInt64 { now(CLOCK_REALTIME) / 1_000_000 }

  private static func now(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

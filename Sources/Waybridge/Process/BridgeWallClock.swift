import Glibc

/// The system's clock, which stamps events.
package enum BridgeWallClock {
  /// Milliseconds since 1970-01-01 UTC (clock_gettime, CLOCK_REALTIME).
  package static func milliseconds() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

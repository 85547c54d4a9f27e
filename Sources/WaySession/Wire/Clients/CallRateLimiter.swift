import WayValues

/// Limits the call rate of a client to a number of calls a second, plus a burst (the generic cell
/// rate algorithm of ITU-T I.371).
struct CallRateLimiter {
  /// Nanoseconds between two calls; 0 if there is no limit.
  private let interval: UInt64
  /// Nanoseconds by which a call may arrive before it is due.
  private let tolerance: UInt64
  /// Time at which the next call is due without use of the burst.
  private var theoreticalArrival: UInt64 = 0

  init(_ limits: Limits) {
    interval = limits.maxRate == 0 ? 0 : 1_000_000_000 / UInt64(limits.maxRate)
    tolerance = interval * UInt64(max(limits.maxBurst - 1, 0))
  }

  /// Counts a call at `now`, a time of the loop's clock in nanoseconds. If the call exceeds the
  /// limit, throws 2429 with `data.retryAfterMs` and does not count it.
  mutating func charge(at now: UInt64) throws(CallError) {
    guard interval > 0 else { return }
    let start = max(theoreticalArrival, now)
    guard start - now <= tolerance else {
      let wait = (start - now - tolerance + 999_999) / 1_000_000
      throw CallError(
        .tooMany, "The client calls too often; try again in \(wait) ms",
        data: ["retryAfterMs": .integer(Int64(wait))])
    }
    theoreticalArrival = start + interval
  }
}

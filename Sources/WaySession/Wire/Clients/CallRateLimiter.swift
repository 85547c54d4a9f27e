import WayTransport
import WayValues

/// Limits the call rate of a client to a number of calls a second, plus a burst.
struct CallRateLimiter {
  private let limit: RateLimit
  private var due: UInt64 = 0

  init(_ limits: Limits) {
    limit = RateLimit(rate: limits.maxRate, burst: limits.maxBurst)
  }

  /// Counts a call at `now`, a time of the loop's clock in nanoseconds. If the call exceeds the
  /// limit, throws 2429 with `data.retryAfterMs` and does not count it.
  mutating func charge(at now: UInt64) throws(CallError) {
    let wait = limit.charge(&due, at: now)
    guard wait > 0 else { return }
    let milliseconds = RateLimit.milliseconds(ofWait: wait)
    throw CallError(
      .tooMany, "The client calls too often; try again in \(milliseconds) ms",
      data: ["retryAfterMs": .integer(Int64(milliseconds))])
  }
}

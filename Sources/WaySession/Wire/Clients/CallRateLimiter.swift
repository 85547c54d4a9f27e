import WayValues

/// How often a client calls: so many calls a second, and a burst of them at once (the generic cell
/// rate algorithm of ITU-T I.371).
struct CallRateLimiter {
  /// Nanoseconds between two calls; 0 where there is no limit.
  private let interval: UInt64
  /// By how much calls may come before their time.
  private let tolerance: UInt64
  /// When the next call is due that takes nothing of the burst.
  private var due: UInt64 = 0

  init(_ limits: Limits) {
    interval = limits.maxRate == 0 ? 0 : 1_000_000_000 / UInt64(limits.maxRate)
    tolerance = interval * UInt64(max(limits.maxBurst - 1, 0))
  }

  /// Counts a call at a moment of the loop's clock, in nanoseconds. Fails with 2429 and
  /// `data.retryAfterMs`, and counts nothing, where it is one too many.
  mutating func take(at now: UInt64) throws(CallError) {
    guard interval > 0 else { return }
    let start = max(due, now)
    guard start - now <= tolerance else {
      let wait = (start - now - tolerance + 999_999) / 1_000_000
      throw CallError(
        .tooMany, "The client calls too often; try again in \(wait) ms",
        data: ["retryAfterMs": .integer(Int64(wait))])
    }
    due = start + interval
  }
}

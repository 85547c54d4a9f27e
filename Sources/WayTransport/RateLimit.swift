/// A limit on how often something happens: a number of times a second on average, plus a burst (the
/// generic cell rate algorithm of ITU-T I.371).
package struct RateLimit: Sendable {
  /// Nanoseconds between two events; 0 if there is no limit.
  private let interval: UInt64
  /// Nanoseconds by which an event may happen before it is due.
  private let tolerance: UInt64

  /// - Parameters:
  ///   - rate: Events a second; 0 for no limit.
  ///   - burst: Events at once, after a pause.
  package init(rate: Int, burst: Int) {
    interval = rate <= 0 ? 0 : 1_000_000_000 / UInt64(rate)
    tolerance = interval * UInt64(max(burst - 1, 0))
  }

  /// Counts an event at `now`, in nanoseconds of a clock. `due` is when the next one is due without
  /// use of the burst. If the event exceeds the limit, does not count it, and returns the
  /// nanoseconds after which it would not; otherwise returns 0.
  @inline(__always)
  package func charge(_ due: inout UInt64, at now: UInt64) -> UInt64 {
    guard interval > 0 else { return 0 }
    let start = max(due, now)
    guard start - now <= tolerance else { return start - now - tolerance }
    due = start + interval
    return 0
  }

  /// Returns the nanoseconds after which ``charge(_:at:)`` counts an event; 0 if it would now.
  package func wait(_ due: UInt64, at now: UInt64) -> UInt64 {
    let start = max(due, now)
    return start - now <= tolerance ? 0 : start - now - tolerance
  }

  /// Counts several events at once, whether or not they exceed the limit. The time until the next
  /// one grows with their number.
  package func add(_ count: Int, _ due: inout UInt64, at now: UInt64) {
    due = max(due, now) &+ interval &* UInt64(max(count, 0))
  }

  /// A time to wait in milliseconds, rounded up, for texts and values of peers.
  package static func milliseconds(ofWait nanoseconds: UInt64) -> UInt64 {
    (nanoseconds + 999_999) / 1_000_000
  }
}

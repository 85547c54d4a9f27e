import WaySession
import WayTransport

/// Limits the lines of each kind about each address, so that one client does not suppress the lines
/// about others.
struct LogThrottle: Sendable {
  /// Counts the lines with the same message about an address.
  typealias LineThrottle = EventThrottle<String?, String>

  private let throttle = Locked(LineThrottle())
  private let startTime = ContinuousClock.now

  /// Decides whether a line is logged now.
  func decide(_ message: String, from address: String?) -> LineThrottle.ThrottleDecision {
    let time = (ContinuousClock.now - startTime) / .milliseconds(1)
    return throttle.withLock { $0.decide(address, message, at: Int64(time)) }
  }
}

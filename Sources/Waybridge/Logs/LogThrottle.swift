import WaySession
import WayTransport

/// Limits the lines of each kind about each address, so that one client does not suppress the lines
/// about others.
struct LogThrottle: Sendable {
  /// The lines that are counted together.
  struct LineKind: Hashable, Sendable {
    let message: String
    let address: String?
  }

  private let throttle = Locked(EventThrottle<LineKind>())
  private let startTime = ContinuousClock.now

  /// Decides whether a line is logged now.
  func decide(_ message: String, from address: String?) -> EventThrottle<LineKind>.ThrottleDecision
  {
    let time = (ContinuousClock.now - startTime) / .milliseconds(1)
    return throttle.withLock {
      $0.decide(LineKind(message: message, address: address), at: Int64(time))
    }
  }
}

import WaySession
import WayTransport

/// Limits the lines of each kind about each network of clients, all lines about a network, and all
/// lines, so that one client does not suppress the lines about others.
struct LogThrottle: Sendable {
  /// Counts the lines with the same message about a network.
  typealias LineThrottle = EventThrottle<String?, String>

  private let throttle = Locked(LineThrottle(ThrottleLimits()))
  private let now: @Sendable () -> Int64

  /// Creates a throttle. `now` is the time in milliseconds.
  init(now: @escaping @Sendable () -> Int64 = LogThrottle.monotonicClock()) {
    self.now = now
  }

  /// A clock that is never set.
  private static func monotonicClock() -> @Sendable () -> Int64 {
    let start = ContinuousClock.now
    return { Int64((ContinuousClock.now - start) / .milliseconds(1)) }
  }

  /// Decides whether a line is logged now.
  func decide(_ message: String, from address: String?) -> LineThrottle.ThrottleDecision {
    let time = now()
    // A client has many addresses of an IPv6 network.
    let network = address.map(IPAddress.networkText(of:))
    return throttle.withLock { $0.decide(network, message, at: time) }
  }
}

import WaySession
import WayTransport

/// Limits the lines of each kind about each network of clients, all lines about a network, and all
/// lines, so that one client does not suppress the lines about others.
struct LogThrottle: Sendable {
  /// Counts the lines with the same message about a network.
  typealias LineThrottle = EventThrottle<String?, String>

  private let throttle = Locked(LineThrottle(ThrottleLimits()))
  private let startTime = ContinuousClock.now

  /// Decides whether a line is logged now.
  func decide(_ message: String, from address: String?) -> LineThrottle.ThrottleDecision {
    let time = (ContinuousClock.now - startTime) / .milliseconds(1)
    // A client has many addresses of an IPv6 network.
    let network = address.map { IPAddress($0)?.clientNetwork.description ?? $0 }
    return throttle.withLock { $0.decide(network, message, at: Int64(time)) }
  }
}

import Synchronization
import WayTransport

/// The source and the expiry of a client's identity. It decides which identities a new token renews,
/// and how many tokens may be rejected.
struct ClientIdentity {
  /// The source of the client's identity.
  private(set) var source: IdentitySource
  /// Fires when the identity is about to expire, or expires.
  private var expiryTimer: (any ScheduledWork)?
  private var rejectedTokenCount = 0

  init(_ source: IdentitySource) { self.source = source }

  /// Whether the identity is that of the session, as another client defines it.
  var followsSession: Bool { source == .session(definesIt: false) }

  /// Records that the client has renewed its identity with a token of its own. Returns whether that
  /// renews the session's identity, too.
  mutating func renew() -> Bool {
    if source == .session(definesIt: true) { return true }
    source = .own
    return false
  }

  /// Replaces the timer that fires when the identity is about to expire, or expires; `nil` for none.
  mutating func setExpiryTimer(_ timer: (any ScheduledWork)?) {
    expiryTimer?.cancel()
    expiryTimer = timer
  }

  /// What follows when the timer of the expiry has fired.
  enum ExpiryStep: Equatable {
    /// The identity has expired.
    case close
    /// Wait for this time. `warns` is true if the client has to renew its identity until then.
    case wait(Duration, warns: Bool)
  }

  /// The time before the expiry at which a client is warned. It is at most half of the time that is
  /// left.
  private static let warningLead: Duration = .seconds(60)

  /// Returns the time until the warning about an expiry. Both times are in milliseconds since
  /// 1970-01-01 UTC.
  static func timeUntilWarning(of expiry: Int64, at now: Int64) -> Duration {
    let remaining = remainingTime(until: expiry, at: now)
    return remaining - min(warningLead, remaining / 2)
  }

  /// Returns what follows when the timer has fired.
  static func step(of expiry: Int64, at now: Int64) -> ExpiryStep {
    let remaining = remainingTime(until: expiry, at: now)
    return remaining > .zero ? .wait(remaining, warns: remaining <= warningLead) : .close
  }

  private static func remainingTime(until expiry: Int64, at now: Int64) -> Duration {
    // An expiry that is far away is checked again later.
    .milliseconds(min(max(expiry, now) - now, 86_400_000))
  }

  /// Counts a rejected token. Returns the reason to close the client's connection if there were too
  /// many, otherwise `nil`.
  mutating func rejectToken() -> String? {
    rejectedTokenCount += 1
    guard rejectedTokenCount >= SessionTokenRejections.maxPerConnection else { return nil }
    return "\(rejectedTokenCount) tokens were rejected"
  }
}

/// Counts rejected tokens. Only the loop writes; any thread may read.
package final class SessionTokenRejections: Sendable {
  /// The number of rejected tokens after which a connection is closed.
  static let maxPerConnection = 10

  /// Rejected `token` params of `session.open`.
  package let sessionTokens = Atomic(0)
  /// Rejected `join` params of `session.open`.
  package let joinTokens = Atomic(0)

  init() {}

  /// Counts one rejected token; `joins` is true if it was for joining a session.
  func add(joins: Bool) {
    if joins { joinTokens.add(1) } else { sessionTokens.add(1) }
  }
}

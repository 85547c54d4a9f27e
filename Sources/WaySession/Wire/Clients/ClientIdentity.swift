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

  /// Counts a rejected token. Returns the reason to close the client's connection if there were too
  /// many, otherwise `nil`.
  mutating func rejectToken() -> String? {
    rejectedTokenCount += 1
    guard rejectedTokenCount >= SessionTokenRejections.maxPerConnection else { return nil }
    return "\(rejectedTokenCount) tokens were rejected"
  }
}

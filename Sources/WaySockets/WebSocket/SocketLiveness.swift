/// The timeouts of an inactive peer.
struct IdleTimeouts: Sendable {
  /// Inactivity after which the peer is pinged.
  let ping: Duration
  /// Inactivity after which the connection is closed.
  let silence: Duration
  /// The interval of the checks, and so the maximum delay in noticing inactivity.
  let checkInterval: Duration

  init(ping: Duration, silence: Duration) {
    self.ping = ping
    self.silence = silence
    checkInterval = max(min(ping / 4, silence / 4, .seconds(1)), .milliseconds(5))
  }
}

/// Tracks how long a peer has been inactive. It decides, and the connection acts.
struct SocketLiveness {
  enum LivenessAction: Hashable {
    case nothing
    case ping
    case expire
  }

  private var silence = Duration.zero
  private var isPinged = false

  /// Records that one more interval has passed. It counts intervals instead of reading the clock:
  /// if the loop was blocked, data from the peer is read after this call.
  mutating func advance(_ timeouts: IdleTimeouts, hasActivity: Bool) -> LivenessAction {
    if hasActivity {
      self = SocketLiveness()
      return .nothing
    }
    silence += timeouts.checkInterval
    if silence >= timeouts.silence { return .expire }
    guard silence >= timeouts.ping, !isPinged else { return .nothing }
    isPinged = true
    return .ping
  }
}

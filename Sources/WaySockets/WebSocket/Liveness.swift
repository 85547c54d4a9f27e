/// How long a peer may be silent.
struct Patience: Sendable {
  /// After so much silence the peer is pinged.
  let ping: Duration
  /// After so much it is given up.
  let silence: Duration
  /// How often connections are looked at: silence is noticed so much later at most.
  let period: Duration

  init(ping: Duration, silence: Duration) {
    self.ping = ping
    self.silence = silence
    period = max(min(ping / 4, silence / 4, .seconds(1)), .milliseconds(5))
  }
}

/// How long a peer has been silent. Pure: it decides, the connection acts.
struct Liveness {
  enum Action: Hashable {
    case nothing
    case ping
    case giveUp
  }

  private var silence = Duration.zero
  private var isPinged = false

  /// One more period has passed. Periods are counted, not the clock: what a peer has sent while the
  /// loop was held up is read later than this is asked.
  mutating func pass(_ patience: Patience, isHeard: Bool) -> Action {
    if isHeard {
      self = Liveness()
      return .nothing
    }
    silence += patience.period
    if silence >= patience.silence { return .giveUp }
    guard silence >= patience.ping, !isPinged else { return .nothing }
    isPinged = true
    return .ping
  }
}

/// The time for which one client has occupied the loop in this turn, so that all clients get their
/// share.
struct ClientFairShare {
  /// Nanoseconds of a turn after which the other clients go first.
  private static let quantum: UInt64 = 2_000_000
  /// Nanoseconds after which each client may have only one more message handled in a turn.
  static let maxTurnAge: UInt64 = 20_000_000

  private var turnStart: UInt64 = 0
  /// Nanoseconds of the turn that the client has used so far.
  private(set) var used: UInt64 = 0

  /// Whether the client has used no more than its share, however old the turn is.
  var isWithinQuantum: Bool { used <= Self.quantum }

  /// Charges the time from `start` to `end` within the turn that began at `turn`. Returns true if
  /// the other clients go first. All times are in nanoseconds of the loop's clock.
  mutating func charge(from start: UInt64, to end: UInt64, ofTurn turn: UInt64) -> Bool {
    if turn != self.turnStart {
      self.turnStart = turn
      used = 0
    }
    used &+= end &- start
    return used > Self.quantum || end &- turn > Self.maxTurnAge
  }
}

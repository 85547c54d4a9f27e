/// How long one client has kept the loop in this turn, so that all get theirs.
struct Turn {
  /// Nanoseconds in a turn after which the others go first.
  private static let share: UInt64 = 2_000_000
  /// So old, a turn leaves everybody one message more.
  static let whole: UInt64 = 20_000_000

  private var turn: UInt64 = 0
  /// What it has used of the turn by now.
  private(set) var used: UInt64 = 0

  /// Whether it has used no more than its share, however old the turn is.
  var isWithinShare: Bool { used <= Self.share }

  /// The client has kept the loop between two moments of a turn, which began at `turn`; true where
  /// it has to let the others go first. All in the loop's nanoseconds.
  mutating func isSpent(from start: UInt64, to end: UInt64, ofTurn turn: UInt64) -> Bool {
    if turn != self.turn {
      self.turn = turn
      used = 0
    }
    used &+= end &- start
    return used > Self.share || end &- turn > Self.whole
  }
}

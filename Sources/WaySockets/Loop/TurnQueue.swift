import DequeModule

/// Work of which there may be very much at once, such as the ends of thousands of connections. Each
/// turn of a loop runs as much of it as fits into a share of the turn, in order.
struct TurnQueue {
  /// Nanoseconds of one turn.
  static let share: UInt64 = 2_000_000

  /// Work, and the time that it takes later in the turn, in nanoseconds.
  typealias QueuedWork = (cost: UInt64, run: @Sendable () -> Void)

  private var work: Deque<QueuedWork> = []
  private var usedTime: UInt64 = 0

  var isEmpty: Bool { work.isEmpty }

  /// Whether work may run now: its share of the turn is not used up, and nothing waits before it.
  var hasTime: Bool { work.isEmpty && usedTime < Self.share }

  /// Adds work. `cost` is the time, in nanoseconds, that it takes later in the turn.
  mutating func append(cost: UInt64 = 0, _ work: @escaping @Sendable () -> Void) {
    self.work.append((cost, work))
  }

  /// Charges nanoseconds that work has used in this turn.
  mutating func charge(_ time: UInt64) { usedTime += time }

  /// Removes and returns the next work; nil if the share of the turn is used up.
  mutating func next() -> QueuedWork? {
    usedTime < Self.share ? work.popFirst() : nil
  }

  /// Begins another turn.
  mutating func beginTurn() { usedTime = 0 }

  /// Removes and returns all work.
  mutating func removeAll() -> [QueuedWork] {
    defer { work = [] }
    return Array(work)
  }
}

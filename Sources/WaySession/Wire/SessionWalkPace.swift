/// Decides after which visits of a step the clock is read, because a reading may take as long as a
/// visit. It is read after the first visit, and then after as many as there is likely to be time for,
/// but at most twice as many as before and at most 16.
struct SessionWalkPace {
  private static var maxInterval: UInt64 { 16 }

  /// Nanoseconds that the step may use.
  private let limit: UInt64
  /// The least time that a visit counts as, in nanoseconds.
  private let cost: UInt64
  private var visitCount: UInt64 = 0
  /// The number of visits after which the clock is read next.
  private var nextReading: UInt64 = 1
  /// Nanoseconds that the step had used when the clock was read last.
  private(set) var usedTime: UInt64 = 0

  init(limit: UInt64, cost: UInt64) {
    self.limit = limit
    self.cost = cost
  }

  /// Counts a visit. Returns whether another one may follow before the clock is read.
  mutating func countVisit() -> Bool {
    visitCount += 1
    return visitCount < nextReading
  }

  /// Records the time since the start of the step. Returns whether there is time for more visits.
  mutating func update(elapsed time: UInt64) -> Bool {
    usedTime = max(time, visitCount * cost)
    guard usedTime < limit else { return false }
    let affordable = (limit - usedTime) / max(usedTime / visitCount, 1)
    nextReading = visitCount + max(min(affordable, visitCount, Self.maxInterval), 1)
    return true
  }
}

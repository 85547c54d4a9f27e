import DequeModule

/// Decides which walk over the sessions of a loop continues, and when. A walk consists of steps,
/// each a number of visits. Only one step runs at a time, and all steps of one turn of the loop
/// together have a share of it. Walks that wait continue in the order in which they began to wait.
struct SessionWalkQueue<Waiter> {
  /// Nanoseconds of one turn for the steps in it.
  static var share: UInt64 { 2_000_000 }

  private var usedTime: UInt64 = 0
  private var isStepRunning = false
  private var waiting: Deque<Waiter> = []

  /// Nanoseconds that the running step may still use.
  var remainingTime: UInt64 { Self.share - min(usedTime, Self.share) }

  /// Whether another turn has to follow.
  var needsTurn: Bool { usedTime > 0 || !waiting.isEmpty }

  /// Begins a step. Returns false if the walk has to wait.
  mutating func beginStep() -> Bool {
    guard !isStepRunning, waiting.isEmpty, remainingTime > 0 else { return false }
    isStepRunning = true
    return true
  }

  /// Adds a walk that has to wait for its step.
  mutating func wait(_ waiter: Waiter) { waiting.append(waiter) }

  /// Ends a step that has used `time` nanoseconds. Returns the walk whose step begins now.
  mutating func endStep(after time: UInt64) -> Waiter? {
    isStepRunning = false
    usedTime += time
    return beginNext()
  }

  /// Begins another turn. Returns the walk whose step begins now.
  mutating func beginTurn() -> Waiter? {
    usedTime = 0
    return beginNext()
  }

  private mutating func beginNext() -> Waiter? {
    guard !isStepRunning, remainingTime > 0, let next = waiting.popFirst() else { return nil }
    isStepRunning = true
    return next
  }
}

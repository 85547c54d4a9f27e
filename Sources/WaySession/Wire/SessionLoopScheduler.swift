import DequeModule
import WayTransport

/// Distributes work over the turns of a loop. Each turn runs as much deferred work, in order, as it
/// is likely to have time for; the rest waits for the next turn. Walks over many sessions have a
/// share of their own in each turn.
actor SessionLoopScheduler {
  private struct DeferredWork {
    /// The likely duration, in nanoseconds.
    let cost: UInt64
    let run: @Sendable () -> Void
  }

  /// Nanoseconds for deferred work in one turn. New messages have the other half.
  private static let deferredBudget = ClientFairShare.maxTurnAge / 2

  /// Bytes of the largest message that is handled at once, however late in the turn it arrives.
  private static let maxSmallMessage = 4096
  /// The likely time to handle one byte of a message, in nanoseconds.
  private static let byteCost: UInt64 = 50

  private nonisolated let loop: any EventLoop
  private nonisolated let executor: UnownedSerialExecutor
  private var queue: Deque<DeferredWork> = []
  private var isRunning = false
  private var walks = SessionWalkQueue<CheckedContinuation<Void, Never>>()
  private var isWalkTurnScheduled = false
  /// Whether a push is going through its sessions, and those that wait for its end.
  private var isPushing = false
  private var waitingPushes: Deque<CheckedContinuation<Void, Never>> = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ loop: any EventLoop) {
    self.loop = loop
    executor = loop.asUnownedSerialExecutor()
  }

  /// Runs work in a later turn. Call on the loop.
  nonisolated func enqueue(cost: UInt64, _ run: @escaping @Sendable () -> Void) {
    assumeIsolated { $0.append(DeferredWork(cost: cost, run: run)) }
  }

  /// Whether a message is large and arrives late in a turn, so that messages of other clients go
  /// first.
  nonisolated func shouldDefer(_ message: RawSpan, _ meter: SessionCallMeter) -> Bool {
    message.byteCount > Self.maxSmallMessage && meter.turnAge > ClientFairShare.maxTurnAge
  }

  /// Handles a message in a later turn, and pauses its channel until then. Call on the loop.
  nonisolated func deferMessage(
    _ message: RawSpan, on channel: any MessageChannel,
    _ handle: @escaping @Sendable (RawSpan) -> Void
  ) {
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    channel.pause()
    enqueue(cost: UInt64(bytes.count) * Self.byteCost) {
      channel.resume()
      handle(bytes.span.bytes)
    }
  }

  private func append(_ work: DeferredWork) {
    queue.append(work)
    guard !isRunning else { return }
    isRunning = true
    loop.executeLater { [self] in assumeIsolated { $0.run() } }
  }

  private func run() {
    let began = loop.nanoseconds
    var planned: UInt64 = 0
    // Work that is added meanwhile runs after the work that waits already.
    for number in 0..<queue.count {
      let spent = max(planned, loop.nanoseconds &- began)
      guard let next = queue.first, number == 0 || spent + next.cost <= Self.deferredBudget else {
        break
      }
      queue.removeFirst()
      planned += next.cost
      next.run()
    }
    guard !queue.isEmpty else {
      isRunning = false
      return
    }
    loop.executeLater { [self] in assumeIsolated { $0.run() } }
  }
}

// Walks over many sessions.
extension SessionLoopScheduler {
  /// Calls `visit` until it returns false, in as many turns of the loop as that takes. Other work
  /// of the loop runs between them. Each visit counts as at least `cost` nanoseconds. Returns false
  /// if the task was cancelled before the end, unless the walk `ignoresCancellation`.
  ///
  /// Call on the loop. If no other walk runs, the first visits happen before it suspends.
  nonisolated(nonsending) func walk(
    cost: UInt64, ignoresCancellation: Bool, _ visit: () -> Bool
  ) async -> Bool {
    while true {
      if !beginStep() { await withCheckedContinuation { waitForStep($0) } }
      let isCancelled = !ignoresCancellation && Task.isCancelled
      let hasMore = !isCancelled && runStep(cost: cost, visit)
      if isCancelled { endStep(after: 0) }
      if !hasMore { return !isCancelled }
    }
  }

  /// Starts a walk that visits the numbers below `count`, then calls `completion`. Each visit counts
  /// as at least `cost` nanoseconds. Call on the loop.
  nonisolated func startWalk(
    _ count: Int, cost: UInt64, _ visit: @escaping @Sendable (Int) -> Void,
    _ completion: @escaping @Sendable () -> Void
  ) {
    Task(executorPreference: loop) { [self] in
      var number = 0
      _ = await walk(cost: cost, ignoresCancellation: true) {
        guard number < count else { return false }
        visit(number)
        number += 1
        return number < count
      }
      completion()
    }
  }

  /// Visits at least once, until the time of the step is used up. Returns whether there are more
  /// visits to make.
  private nonisolated func runStep(cost: UInt64, _ visit: () -> Bool) -> Bool {
    var pace = SessionWalkPace(limit: assumeIsolated { $0.walks.remainingTime }, cost: cost)
    let began = loop.nanoseconds
    while true {
      let hasMore = visit()
      if pace.countVisit(), hasMore { continue }
      let hasTime = pace.update(elapsed: loop.nanoseconds &- began)
      if hasTime, hasMore { continue }
      endStep(after: pace.usedTime)
      return hasMore
    }
  }

  private nonisolated func beginStep() -> Bool { assumeIsolated { $0.walks.beginStep() } }

  private nonisolated func waitForStep(_ walk: CheckedContinuation<Void, Never>) {
    assumeIsolated { scheduler in
      scheduler.walks.wait(walk)
      scheduler.scheduleWalkTurn()
    }
  }

  private nonisolated func endStep(after time: UInt64) {
    assumeIsolated { scheduler in
      scheduler.walks.endStep(after: time)?.resume()
      scheduler.scheduleWalkTurn()
    }
  }

  private func scheduleWalkTurn() {
    guard walks.needsTurn, !isWalkTurnScheduled else { return }
    isWalkTurnScheduled = true
    loop.executeLater { [self] in assumeIsolated { $0.beginWalkTurn() } }
  }

  private func beginWalkTurn() {
    isWalkTurnScheduled = false
    walks.beginTurn()?.resume()
    scheduleWalkTurn()
  }

  /// Waits until all earlier pushes have gone through their sessions, so that each session gets
  /// pushes in the order in which they were made. ``endPush()`` must follow. Call on the loop.
  nonisolated(nonsending) func beginPush() async {
    if !startPushing() { await withCheckedContinuation { waitForPush($0) } }
  }

  private nonisolated func startPushing() -> Bool {
    assumeIsolated { scheduler in
      if scheduler.isPushing { return false }
      scheduler.isPushing = true
      return true
    }
  }

  private nonisolated func waitForPush(_ push: CheckedContinuation<Void, Never>) {
    assumeIsolated { $0.waitingPushes.append(push) }
  }

  /// Lets the next push begin. Call on the loop.
  nonisolated func endPush() {
    assumeIsolated { scheduler in
      let next = scheduler.waitingPushes.popFirst()
      scheduler.isPushing = next != nil
      next?.resume()
    }
  }
}

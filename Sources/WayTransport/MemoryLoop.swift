import Dispatch
import Synchronization

/// An event loop without sockets. Jobs run on a serial queue, and time advances only with
/// ``advance(by:)``, or also with each reading of the clock.
package final class MemoryLoop: EventLoop {
  private struct QueuedTimer {
    let due: Duration
    let order: Int
    let work: MemoryTimer
  }

  private struct MemoryLoopState {
    var now: Duration = .zero
    var timers: [QueuedTimer] = []
    var timerCount = 0
    /// Number of pending and running jobs.
    var jobCount = 0
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The queue that runs the current code.
  private static let currentQueue = DispatchSpecificKey<ObjectIdentifier>()

  private let queue = DispatchQueue(label: "waybridge.memory-loop")
  private let state = Mutex(MemoryLoopState())
  private let readingTime: Duration

  /// Creates a loop. Each reading of its clock advances the clock by `readingTime`, so that work
  /// takes time; timers that become due in this way wait for ``advance(by:)``.
  package init(readingTime: Duration = .zero) {
    self.readingTime = readingTime
    queue.setSpecific(key: Self.currentQueue, value: ObjectIdentifier(queue))
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func isIsolatingCurrentContext() -> Bool? {
    DispatchQueue.getSpecific(key: Self.currentQueue) == ObjectIdentifier(queue)
  }

  package func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }

  package func schedule(
    after delay: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let timer = MemoryTimer(work)
    state.withLock { state in
      state.timerCount += 1
      state.timers.append(QueuedTimer(due: state.now + delay, order: state.timerCount, work: timer))
    }
    return timer
  }

  package var nanoseconds: UInt64 {
    let now = state.withLock { state -> Duration in
      state.now += readingTime
      return state.now
    }
    let (seconds, attoseconds) = now.components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobCount += 1 }
    queue.async {
      work()
      self.jobEnded()
    }
  }

  package func executeLater(_ work: @escaping @Sendable () -> Void) { execute(work) }

  private func jobEnded() {
    let awaiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.jobCount -= 1
      guard state.jobCount == 0 else { return [] }
      defer { state.idleWaiters = [] }
      return state.idleWaiters
    }
    for continuation in awaiting { continuation.resume() }
  }

  /// Returns when no job is pending or running. All sent messages have then been received, and all
  /// resulting work is done, except for timers and work of other threads.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.jobCount > 0 { state.idleWaiters.append(continuation) }
        return state.jobCount == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Advances the time from timer to timer, and finishes all resulting work before the next timer.
  /// Returns when the last due timer has run, with its resulting work.
  package func advance(by time: Duration) async {
    await settle()
    let end = state.withLock { $0.now + time }
    while let work = dequeueTimer(until: end) {
      execute { work.run() }
      await settle()
    }
    state.withLock { $0.now = max($0.now, end) }
  }

  /// Removes the timer that is due first, and advances the time to it.
  private func dequeueTimer(until end: Duration) -> MemoryTimer? {
    state.withLock { state in
      let due = state.timers.indices.filter { state.timers[$0].due <= end }
      let first = due.min { left, right in
        let (left, right) = (state.timers[left], state.timers[right])
        return (left.due, left.order) < (right.due, right.order)
      }
      guard let first else { return nil }
      let timer = state.timers.remove(at: first)
      state.now = max(state.now, timer.due)
      return timer.work
    }
  }
}

private final class MemoryTimer: ScheduledWork {
  private let work: Mutex<(@Sendable () -> Void)?>

  init(_ work: @escaping @Sendable () -> Void) {
    self.work = Mutex(work)
  }

  func run() {
    let pending = work.withLock { work in
      defer { work = nil }
      return work
    }
    pending?()
  }

  func cancel() {
    work.withLock { $0 = nil }
  }
}

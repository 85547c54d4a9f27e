import Dispatch
import Synchronization

/// An event loop without sockets: jobs run on a serial queue, and time stands still until
/// ``advance(by:)`` moves it.
package final class MemoryLoop: EventLoop {
  private struct Timer {
    let due: Duration
    let order: Int
    let work: MemoryTimer
  }

  private struct Held {
    var now: Duration = .zero
    var timers: [Timer] = []
    var made = 0
    /// Jobs that wait or run.
    var jobs = 0
    var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
  }

  private let queue = DispatchQueue(label: "waybridge.memory-loop")
  private let held = Mutex(Held())

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }

  package func schedule(
    after delay: Duration, _ work: @escaping @Sendable () -> Void
  ) -> any ScheduledWork {
    let timer = MemoryTimer(work)
    held.withLock { held in
      held.made += 1
      held.timers.append(Timer(due: held.now + delay, order: held.made, work: timer))
    }
    return timer
  }

  package var nanoseconds: UInt64 {
    let (seconds, attoseconds) = held.withLock { $0.now }.components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    held.withLock { $0.jobs += 1 }
    queue.async {
      work()
      self.jobEnded()
    }
  }

  package func executeLater(_ work: @escaping @Sendable () -> Void) { execute(work) }

  private func jobEnded() {
    let awaiting = held.withLock { held -> [CheckedContinuation<Void, Never>] in
      held.jobs -= 1
      guard held.jobs == 0 else { return [] }
      defer { held.awaitingIdleness = [] }
      return held.awaitingIdleness
    }
    for continuation in awaiting { continuation.resume() }
  }

  /// Returns when no job waits or runs: what was sent on this loop is received, and all is done
  /// that follows from it without the time or other threads.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isIdle = held.withLock { held in
        if held.jobs > 0 { held.awaitingIdleness.append(continuation) }
        return held.jobs == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Moves the time, from timer to timer: before it goes on, all is done that follows from the one
  /// before. Returns when the last that falls due has run, with what follows from it.
  package func advance(by time: Duration) async {
    await settle()
    let end = held.withLock { $0.now + time }
    while let work = nextTimer(until: end) {
      execute { work.run() }
      await settle()
    }
    held.withLock { $0.now = max($0.now, end) }
  }

  /// Takes the timer that falls due first, and moves the time to it.
  private func nextTimer(until end: Duration) -> MemoryTimer? {
    held.withLock { held in
      let due = held.timers.indices.filter { held.timers[$0].due <= end }
      let first = due.min { left, right in
        let (left, right) = (held.timers[left], held.timers[right])
        return (left.due, left.order) < (right.due, right.order)
      }
      guard let first else { return nil }
      let timer = held.timers.remove(at: first)
      held.now = max(held.now, timer.due)
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
    let taken = work.withLock { work in
      defer { work = nil }
      return work
    }
    taken?()
  }

  func cancel() {
    work.withLock { $0 = nil }
  }
}

import Dispatch
import Synchronization

/// An event loop without sockets: jobs run on a serial queue, and time stands still until ``advance(by:)`` moves it.
package final class MemoryLoop: EventLoop {
  private struct Timer {
    let due: Duration
    let order: Int
    let work: MemoryTimer
  }

  private struct Clock {
    var now: Duration = .zero
    var timers: [Timer] = []
    var made = 0
  }

  private let queue = DispatchQueue(label: "waybridge.memory-loop")
  private let clock = Mutex(Clock())

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
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
    clock.withLock { clock in
      clock.made += 1
      clock.timers.append(Timer(due: clock.now + delay, order: clock.made, work: timer))
    }
    return timer
  }

  package var nanoseconds: UInt64 {
    let (seconds, attoseconds) = clock.withLock { $0.now }.components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  /// Moves the time and runs, in order, all work that falls due. Returns when it has run.
  package func advance(by time: Duration) async {
    let due = clock.withLock { clock in
      clock.now += time
      let due = clock.timers.filter { $0.due <= clock.now }
      clock.timers.removeAll { $0.due <= clock.now }
      return due.sorted { ($0.due, $0.order) < ($1.due, $1.order) }
    }
    await withCheckedContinuation { continuation in
      queue.async {
        for timer in due { timer.work.run() }
        continuation.resume()
      }
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

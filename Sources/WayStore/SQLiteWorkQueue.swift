import Dispatch

/// A thread's worth of work that may block, one job after the other: what an actor runs on whose
/// calls wait for a disk.
package final class SQLiteWorkQueue: SerialExecutor {
  // A serial queue of its own gets a thread besides those that Swift's tasks share.
  private let queue: DispatchQueue

  package init(_ label: String) {
    queue = DispatchQueue(label: label)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

import Dispatch

/// A serial executor for work that may block, such as an actor whose calls wait for a disk.
package final class SQLiteWorkQueue: SerialExecutor {
  // A separate serial queue uses a thread outside of the pool of Swift's tasks.
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

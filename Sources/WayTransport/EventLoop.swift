/// A thread that runs work serially. Sessions and connections are isolated to it.
///
/// It is an executor that runs every job in order and never drops one.
package protocol EventLoop: AnyObject, SerialExecutor, TaskExecutor {
  /// The loop's monotonic clock, with an arbitrary start.
  var nanoseconds: UInt64 { get }

  /// Runs `work` on the loop, after earlier work. Call it from any thread.
  func execute(_ work: @escaping @Sendable () -> Void)

  /// Runs `work` on the loop after everything that is ready by now, including received data. Call
  /// it from any thread.
  func executeLater(_ work: @escaping @Sendable () -> Void)

  /// Runs `work` on the loop after `delay`, unless it is cancelled or the loop ends before. Call it
  /// from any thread.
  func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any ScheduledWork
}

/// Work scheduled on an ``EventLoop``.
package protocol ScheduledWork: AnyObject, Sendable {
  /// Cancels the work. Has no effect if it has already run. Call it from any thread. On the loop's
  /// own thread, the work is certain not to run afterwards.
  func cancel()
}

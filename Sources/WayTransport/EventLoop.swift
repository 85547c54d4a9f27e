/// One thread that runs one thing after another: what sessions and connections are isolated to.
///
/// As an executor it runs every job it is given, in order, and never drops one.
package protocol EventLoop: AnyObject, SerialExecutor, TaskExecutor {
  /// The loop's clock, which never goes back and counts from any time.
  var nanoseconds: UInt64 { get }

  /// Runs `work` on the loop, after what it was given before. May be called from any thread.
  func execute(_ work: @escaping @Sendable () -> Void)

  /// Runs `work` on the loop when all that is ready by now, what has come to sockets among it, has
  /// had its turn. May be called from any thread.
  func executeLater(_ work: @escaping @Sendable () -> Void)

  /// Runs `work` on the loop once `delay` has passed, unless it was cancelled or the loop ended
  /// before. May be called from any thread.
  func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any ScheduledWork
}

/// Work that waits for its time on an ``EventLoop``.
package protocol ScheduledWork: AnyObject, Sendable {
  /// Takes the work back. Nothing happens when it has run already. May be called from any thread;
  /// on the loop's own thread the work is certain not to run afterwards.
  func cancel()
}

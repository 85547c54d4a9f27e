import Dispatch

/// A thread for work that may block.
final class NATSWorkerThread: Sendable {
  private let queue = DispatchQueue(label: "waybridge.post")

  func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns when all submitted work has run.
  func finish() { queue.sync {} }
}

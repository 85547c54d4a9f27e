import Synchronization
import WaySession

/// The pushes that wait for the app's push service, which runs outside of the loops.
final class AwayPushQueue: Sendable {
  /// The number of pushes that may wait; further ones are dropped.
  static let limit = 1024
  /// The number of pushes that the service handles at the same time.
  static let maxConcurrent = 8

  /// The number of pushes that the service has received or will receive.
  let accepted = Atomic(0)
  /// The number of pushes that were dropped because too many waited.
  let dropped = Atomic(0)
  private let continuation: AsyncStream<AwayPush>.Continuation
  private let worker: Task<Void, Never>

  init(_ service: @escaping @Sendable (AwayPush) async -> Void) {
    let (pushes, continuation) = AsyncStream.makeStream(
      of: AwayPush.self, bufferingPolicy: .bufferingOldest(Self.limit))
    self.continuation = continuation
    worker = Task { await Self.run(pushes, service) }
  }

  /// Adds a push. Returns at once; may be called on any thread.
  @Sendable func add(_ push: AwayPush) {
    if case .enqueued = continuation.yield(push) {
      accepted.add(1, ordering: .relaxed)
    } else {
      dropped.add(1, ordering: .relaxed)
    }
  }

  /// Ends the queue, and cancels the tasks of the service. Pushes that still wait are lost.
  func stop() async {
    continuation.finish()
    worker.cancel()
    await worker.value
  }

  private static func run(
    _ pushes: AsyncStream<AwayPush>, _ service: @escaping @Sendable (AwayPush) async -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for await push in pushes {
        if running == maxConcurrent {
          await group.next()
          running -= 1
        }
        group.addTask { await service(push) }
        running += 1
      }
    }
  }
}

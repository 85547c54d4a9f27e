import DequeModule
import WayTransport

/// A queue of work for later turns of the loop, in order. Each turn runs as much work as it is
/// likely to have time for. The rest waits for the next turn.
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

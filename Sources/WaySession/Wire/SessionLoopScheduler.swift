import DequeModule
import WayTransport

/// Who waits for a further turn of the loop, in their order. So much of what waits is done in one
/// turn as is likely to be done in its time; the rest waits for the next.
actor SessionLoopScheduler {
  private struct Waiting {
    /// What it is likely to take, in nanoseconds.
    let cost: UInt64
    let goOn: @Sendable () -> Void
  }

  /// Nanoseconds for what waits in one turn: what comes anew has the other half.
  private static let share = Turn.whole / 2

  /// A message of so many bytes, or fewer, is taken however late it is.
  private static let small = 4096
  /// What a byte of a message is likely to take, in nanoseconds.
  private static let byteCost: UInt64 = 50

  private nonisolated let loop: any EventLoop
  private nonisolated let executor: UnownedSerialExecutor
  private var waiting: Deque<Waiting> = []
  private var isRunning = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  init(_ loop: any EventLoop) {
    self.loop = loop
    executor = loop.asUnownedSerialExecutor()
  }

  /// Has work done in a later turn. Call on the loop.
  nonisolated func wait(cost: UInt64, _ goOn: @escaping @Sendable () -> Void) {
    assumeIsolated { $0.add(Waiting(cost: cost, goOn: goOn)) }
  }

  /// Whether a message comes late in a turn and is large: those of others go first.
  nonisolated func isPutOff(_ message: RawSpan, _ meter: SessionCallMeter) -> Bool {
    message.byteCount > Self.small && meter.age > Turn.whole
  }

  /// Has a message taken in a later turn, and nothing of its channel before. Call on the loop.
  nonisolated func putOff(
    _ message: RawSpan, on channel: any MessageChannel,
    _ take: @escaping @Sendable (RawSpan) -> Void
  ) {
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    channel.pause()
    wait(cost: UInt64(bytes.count) * Self.byteCost) {
      channel.resume()
      take(bytes.span.bytes)
    }
  }

  private func add(_ work: Waiting) {
    waiting.append(work)
    guard !isRunning else { return }
    isRunning = true
    loop.executeLater { [self] in assumeIsolated { $0.run() } }
  }

  private func run() {
    let began = loop.nanoseconds
    var planned: UInt64 = 0
    // What is added by it comes after those that wait already.
    for number in 0..<waiting.count {
      let spent = max(planned, loop.nanoseconds &- began)
      guard let next = waiting.first, number == 0 || spent + next.cost <= Self.share else { break }
      waiting.removeFirst()
      planned += next.cost
      next.goOn()
    }
    guard !waiting.isEmpty else {
      isRunning = false
      return
    }
    loop.executeLater { [self] in assumeIsolated { $0.run() } }
  }
}

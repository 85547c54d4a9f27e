import WayTransport
import WayValues

/// What a client that watches is answered: at once, or when all loops tell it what happens.
enum WatchBeginning {
  case done(Value)
  case later(@Sendable () async -> Value)
}

/// Takes the records of all loops for one client that watches, and hands them on in batches: at most
/// ten a second, bounded in count and bytes. What does not fit is dropped and counted.
///
/// Confined to the loop of that client; ``take(_:dropped:)`` is for any thread.
final class InspectorFeed: @unchecked Sendable {
  /// What becomes of a batch.
  enum Handover {
    case sent
    /// The client has not read what it was sent: later.
    case later
    case gone
  }

  static let interval: Duration = .milliseconds(100)
  /// Of one batch.
  static let maxRecords = 500
  /// Of one batch, as it is kept, which is more than it has as text.
  static let maxBytes = 1 << 20

  private let loop: any EventLoop
  private let deliver: @Sendable ([Value], _ dropped: Int) -> Handover
  private var waiting: [Value] = []
  private var bytes = 0
  private var dropped = 0
  private var lastSent: UInt64?
  private var timer: (any ScheduledWork)?
  private var isGone = false

  /// `deliver` is called on the loop.
  init(
    on loop: any EventLoop, _ deliver: @escaping @Sendable ([Value], _ dropped: Int) -> Handover
  ) {
    self.loop = loop
    self.deliver = deliver
  }

  /// Takes what a loop has to tell.
  func take(_ records: [Value], bytes: Int, dropped: Int) {
    loop.execute { [self] in add(records, bytes, dropped) }
  }

  private func add(_ records: [Value], _ size: Int, _ lost: Int) {
    guard !isGone else { return }
    dropped += lost
    if waiting.count + records.count > Self.maxRecords || bytes + size > Self.maxBytes {
      dropped += records.count
    } else {
      waiting += records
      bytes += size
    }
    schedule()
  }

  private func schedule() {
    guard timer == nil else { return }
    let interval = UInt64(Self.interval / .nanoseconds(1))
    let passed = lastSent.map { loop.nanoseconds &- $0 } ?? interval
    if passed >= interval { return send() }
    timer = loop.schedule(after: .nanoseconds(Int64(interval - passed))) { [weak self] in
      guard let self else { return }
      timer = nil
      send()
    }
  }

  private func send() {
    guard !waiting.isEmpty || dropped > 0 else { return }
    lastSent = loop.nanoseconds
    let batch = waiting.sorted { $0.at < $1.at }
    switch deliver(batch, dropped) {
    case .sent:
      waiting = []
      (bytes, dropped) = (0, 0)
    case .later: schedule()
    case .gone:
      isGone = true
      waiting = []
    }
  }
}

extension Value {
  fileprivate var at: Double { self["at"]?.double ?? 0 }
}

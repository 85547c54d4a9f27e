import WayTransport
import WayValues

/// The result of a request to inspect: available at once, or when all loops have subscribed.
enum InspectionStart {
  case immediate(Value)
  case deferred(@Sendable () async -> Value)
}

/// Collects the records of all loops for one client that inspects, and sends them in batches: at
/// most ten a second, limited in count and bytes. Records that exceed the limits are dropped and
/// counted.
///
/// Confined to the loop of that client; ``enqueue(_:bytes:dropped:)`` may be called from any
/// thread.
final class InspectorFeed: @unchecked Sendable {
  /// The result of sending a batch.
  enum BatchResult {
    case sent
    /// The client has not read earlier batches: try again later.
    case deferred
    case closed
  }

  static let interval: Duration = .milliseconds(100)
  /// Records of one batch.
  static let maxRecords = 500
  /// Bytes of one batch in memory, which are more than those of its JSON.
  static let maxBytes = 1 << 20

  private let loop: any EventLoop
  private let deliver: @Sendable ([Value], _ dropped: Int) -> BatchResult
  private var pendingRecords: [Value] = []
  private var pendingBytes = 0
  private var droppedCount = 0
  private var lastSent: UInt64?
  private var timer: (any ScheduledWork)?
  private var isClosed = false

  /// `deliver` is called on the loop.
  init(
    on loop: any EventLoop, _ deliver: @escaping @Sendable ([Value], _ dropped: Int) -> BatchResult
  ) {
    self.loop = loop
    self.deliver = deliver
  }

  /// Adds the records of a loop.
  func enqueue(_ records: [Value], bytes: Int, dropped: Int) {
    loop.execute { [self] in add(records, bytes, dropped) }
  }

  private func add(_ records: [Value], _ size: Int, _ lost: Int) {
    guard !isClosed else { return }
    droppedCount += lost
    if pendingRecords.count + records.count > Self.maxRecords || pendingBytes + size > Self.maxBytes
    {
      droppedCount += records.count
    } else {
      pendingRecords += records
      pendingBytes += size
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
    guard !pendingRecords.isEmpty || droppedCount > 0 else { return }
    lastSent = loop.nanoseconds
    let batch = pendingRecords.sorted { $0.timestamp < $1.timestamp }
    switch deliver(batch, droppedCount) {
    case .sent:
      pendingRecords = []
      (pendingBytes, droppedCount) = (0, 0)
    case .deferred: schedule()
    case .closed:
      isClosed = true
      pendingRecords = []
    }
  }
}

extension Value {
  fileprivate var timestamp: Double { self["at"]?.double ?? 0 }
}

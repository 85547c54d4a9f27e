import WayTransport

/// Limits the events that clients publish in their session, in number and bytes. Otherwise a client
/// could fill the outboxes and backlogs of others faster than they read, and lose them their
/// connections.
struct PublishRateLimit {
  /// The events and bytes that count so far: when the next ones are due.
  struct PublishAllowance {
    fileprivate var nextEvent: UInt64 = 0
    fileprivate var nextByte: UInt64 = 0
  }

  private let events: RateLimit
  private let bytes: RateLimit

  /// In a second, and at once after a pause: one `part`th of the messages and bytes that a client may
  /// leave unacknowledged, or unread.
  init(_ limits: Limits, part: Int) {
    let messageCount = max(limits.maxOutboxMessages / part, 1)
    let byteCount = max(min(limits.maxBacklog, limits.maxOutbox) / part, 1)
    events = RateLimit(rate: messageCount, burst: messageCount)
    bytes = RateLimit(rate: byteCount, burst: byteCount)
  }

  /// Returns the nanoseconds after which an event may be published; 0 for now. An event of any size
  /// may follow a pause.
  func wait(_ allowance: PublishAllowance, at now: UInt64) -> UInt64 {
    max(events.wait(allowance.nextEvent, at: now), bytes.wait(allowance.nextByte, at: now))
  }

  /// Counts an event with this number of bytes.
  func add(_ byteCount: Int, _ allowance: inout PublishAllowance, at now: UInt64) {
    events.add(1, &allowance.nextEvent, at: now)
    bytes.add(byteCount, &allowance.nextByte, at: now)
  }
}

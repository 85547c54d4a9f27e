import DequeModule

/// The numbered messages of a client that wait until the store has the changes which they depend
/// on. Later messages wait too, since messages are sent in order.
struct PendingPersistence {
  /// The number of the last message that was sent.
  private(set) var lastSent: UInt64
  private var queued: Deque<(change: Int, last: UInt64)> = []
  /// Whether the connection has not got the response to `session.resume` yet.
  private(set) var awaitsResumeResponse: Bool

  init(after sent: UInt64, awaitsResumeResponse: Bool = false) {
    self.lastSent = sent
    self.awaitsResumeResponse = awaitsResumeResponse
  }

  /// Holds messages up to the number `last` until the change `change` of the session is stored.
  mutating func add(through last: UInt64, until change: Int) {
    if let newest = queued.last, newest.change == change {
      queued[queued.count - 1].last = last
    } else {
      queued.append((change, last))
    }
  }

  /// Records that the connection has got the response to `session.resume`.
  mutating func markResumed() { awaitsResumeResponse = false }

  /// Removes and returns the range of messages that may be sent now that changes up to `change` are
  /// stored.
  mutating func release(through change: Int) -> (after: UInt64, through: UInt64)? {
    if awaitsResumeResponse { return nil }
    let first = lastSent
    while let next = queued.first, next.change <= change {
      lastSent = next.last
      queued.removeFirst()
    }
    return lastSent > first ? (first, lastSent) : nil
  }

  /// Whether all messages were sent.
  var isFinished: Bool { queued.isEmpty && !awaitsResumeResponse }
}

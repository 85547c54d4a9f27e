import DequeModule

/// The numbered messages of a client that are not sent yet, since the store does not have what they
/// rest on. What comes after them waits too: messages go out in their order.
struct PendingPersistence {
  /// The last message that was sent.
  private(set) var sent: UInt64
  private var waiting: Deque<(change: Int, last: UInt64)> = []
  /// Whether the connection is not told yet that it carries the client.
  private(set) var isGreeting: Bool

  init(after sent: UInt64, isGreeting: Bool = false) {
    self.sent = sent
    self.isGreeting = isGreeting
  }

  /// Messages up to a number wait for a change of the session.
  mutating func add(through last: UInt64, until change: Int) {
    if let newest = waiting.last, newest.change == change {
      waiting[waiting.count - 1].last = last
    } else {
      waiting.append((change, last))
    }
  }

  /// The connection is told that it carries the client.
  mutating func greeted() { isGreeting = false }

  /// The store has the changes up to a number: what may go out by that.
  mutating func release(through change: Int) -> (after: UInt64, through: UInt64)? {
    if isGreeting { return nil }
    let first = sent
    while let next = waiting.first, next.change <= change {
      sent = next.last
      waiting.removeFirst()
    }
    return sent > first ? (first, sent) : nil
  }

  /// Whether all was sent.
  var isDone: Bool { waiting.isEmpty && !isGreeting }
}

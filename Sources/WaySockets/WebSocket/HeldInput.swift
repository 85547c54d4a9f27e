import WayTransport

/// The received data that a connection holds, charged to a budget: the parts of an unfinished
/// message, and what was read when reading was paused.
struct HeldInput {
  private(set) var message: [UInt8] = []
  /// Whether a message has begun and its last part is still to be received.
  private(set) var isMessageOpen = false
  private(set) var unread: [UInt8] = []
  private let budget: SocketMemoryBudget
  /// Number of bytes of memory, all of them charged.
  private(set) var size = 0
  /// The place of the held data in the order of arrival at this loop. It counts from the moment when
  /// nothing was held.
  private(set) var arrival: UInt64 = 0

  init(budget: SocketMemoryBudget) {
    self.budget = budget
  }

  mutating func append(toMessage part: UnsafeRawBufferPointer) {
    message.append(contentsOf: part)
    isMessageOpen = true
    charge()
  }

  mutating func append(unread bytes: UnsafeMutableRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    unread.append(contentsOf: bytes)
    charge()
  }

  /// Removes the message.
  mutating func removeMessage() -> [UInt8] {
    var removed: [UInt8] = []
    swap(&removed, &message)
    isMessageOpen = false
    charge()
    return removed
  }

  /// Removes the unread data.
  mutating func removeUnread() -> [UInt8] {
    var removed: [UInt8] = []
    swap(&removed, &unread)
    charge()
    return removed
  }

  mutating func removeAll() {
    _ = removeMessage()
    _ = removeUnread()
  }

  /// Continues with what another loop held.
  mutating func restore(message: [UInt8], isMessageOpen: Bool, unread: [UInt8]) {
    self.message = message
    self.isMessageOpen = isMessageOpen
    self.unread = unread
    charge()
  }

  private mutating func charge() {
    let held = message.capacity + unread.capacity
    if size == 0, held > 0 { arrival = budget.nextArrival() }
    budget.used += held - size
    size = held
  }
}

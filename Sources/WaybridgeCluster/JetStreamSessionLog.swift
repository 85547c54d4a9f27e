import WaySession

/// The state of the log of a session that this server owns.
struct JetStreamSessionLog {
  /// A log needs compaction if a secret is being replaced, if it has more messages, or both more bytes and four times those of the
  /// last snapshot of the session.
  private static let limit = (messages: 256, bytes: 4 << 20)

  /// The owner of a session according to the last message of its log.
  enum LogOwner: Equatable {
    case thisServer, otherServer
    /// This server if its message with this number is still in the log, else another one.
    case thisServerIfStored(UInt64)
  }

  let lease: SessionLease
  /// The number of the last message; nil if it must be looked up.
  private(set) var lastSequence: UInt64?
  /// The number of the last message that was acknowledged.
  private(set) var acknowledgedSequence: UInt64
  /// Whether another message of this server may be in transit, so that it must check which of the
  /// two is effective.
  private(set) var isContested = false
  /// How many messages and bytes were written since the last snapshot of the session, and how many
  /// bytes that had.
  private(set) var messageCount = 0
  private var bytes = 0
  private var snapshotBytes = 0
  /// The number of the first message of its last change, and the bytes of the whole change.
  private(set) var changeStart: UInt64 = 0
  private var changeBytes = 0

  /// How often the server had lost its lease when a message was acknowledged last; nil if it had no
  /// lease then.
  private var leaseLosses: Int?
  /// Whether a message is sealed with a secret that is being replaced.
  private var isOutdated: Bool
  /// Whether the session may already have no owner.
  private var isReleasing = false

  init(
    lease: SessionLease, lastSequence: UInt64, messageCount: Int = 0, isOutdated: Bool = false,
    leaseLosses: Int? = nil
  ) {
    self.isOutdated = isOutdated
    (self.lease, self.lastSequence, self.messageCount, self.leaseLosses) = (
      lease, lastSequence, messageCount, leaseLosses
    )
    acknowledgedSequence = lastSequence
  }

  /// Returns the owner of the session if the last message of its log has the given lease; nil for an
  /// empty log. `leaseLosses` is how often the server has lost its own lease so far; nil if it has
  /// none.
  func owner(ifLastLease lastLease: SessionLease?, leaseLosses: Int?) -> LogOwner {
    // Then no other server can have taken the session over.
    let isCertainlyOwned =
      !isReleasing && leaseLosses != nil && leaseLosses == self.leaseLosses
    guard let lastLease else {
      return acknowledgedSequence == 0 || isCertainlyOwned ? .thisServer : .otherServer
    }
    // It is this server's own message, even if it was given up and arrived late.
    if lastLease == lease { return .thisServer }
    guard isCertainlyOwned else { return .otherServer }
    if lastLease.term < lease.term { return .thisServer }
    // A later message is not effective. If this server's own message is lost, the session belongs
    // to the other server.
    return acknowledgedSequence > 0 ? .thisServerIfStored(acknowledgedSequence) : .otherServer
  }

  /// Records that the server is about to release the session.
  mutating func markReleased() { isReleasing = true }

  var needsCompaction: Bool {
    isOutdated || messageCount > Self.limit.messages
      || bytes > max(Self.limit.bytes, 4 * snapshotBytes)
  }

  /// Adds a message.
  mutating func add(_ number: UInt64, _ size: Int, begins: Bool, leaseLosses: Int?) {
    (lastSequence, acknowledgedSequence, self.leaseLosses) = (number, number, leaseLosses)
    isContested = false
    messageCount += 1
    bytes += size
    if begins { (changeStart, changeBytes) = (number, 0) }
    changeBytes += size
  }

  /// Records that it is not known which messages of a change are stored.
  mutating func markUncertain() {
    lastSequence = nil
    isContested = true
  }

  /// Sets the last message, which was looked up; 0 if there is none. Returns whether acknowledged
  /// messages after it are lost.
  mutating func setLast(_ number: UInt64) -> Bool {
    lastSequence = number
    guard number < acknowledgedSequence else { return false }
    (acknowledgedSequence, messageCount, isContested) = (number, 0, true)
    return true
  }

  /// Records that its last change was a snapshot of the session.
  mutating func markCompacted() {
    (messageCount, bytes, snapshotBytes) = (1, 0, changeBytes)
    isOutdated = false
  }
}

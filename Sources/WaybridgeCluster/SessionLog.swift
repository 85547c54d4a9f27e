import WaySession

/// What a server knows of the log of a session that it owns.
struct SessionLog {
  /// One that has more messages, or more bytes and four times those that the session had when it was
  /// written as a whole last, is to be written anew.
  private static let limit = (messages: 256, bytes: 4 << 20)

  let lease: SessionLease
  /// The number of the last message; nil where it has to be looked up.
  private(set) var last: UInt64?
  /// That of the last one that was acknowledged.
  private(set) var acknowledged: UInt64
  /// Whether another of this server may be on its way, so that it has to be looked which of the two
  /// counts.
  private(set) var isContested = false
  /// How many messages and bytes it has since the session was written as a whole, and how many
  /// bytes that was.
  private(set) var count = 0
  private var bytes = 0
  private var wholeBytes = 0
  /// The number of the first message of its last change, and the bytes of all of it.
  private(set) var changeBegan: UInt64 = 0
  private var changeBytes = 0

  /// How often the server had lost its lease when a message was acknowledged last; nil where it did not
  /// hold then.
  private var losses: Int?
  /// Whether it may be nobody's already.
  private var isNobodys = false

  init(lease: SessionLease, last: UInt64, count: Int = 0, losses: Int? = nil) {
    (self.lease, self.last, self.count, self.losses) = (lease, last, count, losses)
    acknowledged = last
  }

  /// Whether nobody can have taken the session over, where the server has lost its lease so often and
  /// has it.
  func isCertain(_ losses: Int?) -> Bool { !isNobodys && losses != nil && losses == self.losses }

  /// The server writes that it gives it back.
  mutating func isGivenBack() { isNobodys = true }

  var isLong: Bool {
    count > Self.limit.messages
      || bytes > max(Self.limit.bytes, 4 * wholeBytes)
  }

  /// It has one more message.
  mutating func add(_ number: UInt64, _ size: Int, begins: Bool, losses: Int?) {
    (last, acknowledged, self.losses) = (number, number, losses)
    isContested = false
    count += 1
    bytes += size
    if begins { (changeBegan, changeBytes) = (number, 0) }
    changeBytes += size
  }

  /// What of a change is kept is not known.
  mutating func isInDoubt() {
    last = nil
    isContested = true
  }

  /// The last message was looked up.
  mutating func wasFound(_ number: UInt64) { last = number }

  /// What was acknowledged is not there any more after a message, 0 for none.
  mutating func isGone(but last: UInt64) {
    (self.last, acknowledged, count) = (last, last, 0)
    isContested = true
  }

  /// Its last change was the session as a whole.
  mutating func wasShortened() { (count, bytes, wholeBytes) = (1, 0, changeBytes) }
}

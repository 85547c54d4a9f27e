import WaySession

/// What a server knows of the log of a session that it owns.
struct SessionLog {
  /// One that has more messages, or more bytes and four times those that the session had when it was
  /// written as a whole last, is to be written anew.
  private static let limit = (messages: 256, bytes: 4 << 20)

  let lease: SessionLease
  /// The number of the last message; nil where it has to be looked up.
  var last: UInt64?
  /// How many messages and bytes it has since the session was written as a whole, and how many
  /// bytes that was.
  private(set) var count = 0
  private var bytes = 0
  private var wholeBytes = 0
  /// The number of the first message of its last change, and the bytes of all of that.
  private(set) var changeBegan: UInt64 = 0
  private var changeBytes = 0

  init(lease: SessionLease, last: UInt64, count: Int = 0) {
    (self.lease, self.last, self.count) = (lease, last, count)
  }

  var isLong: Bool {
    count > Self.limit.messages
      || bytes > max(Self.limit.bytes, 4 * wholeBytes)
  }

  /// It has one more message.
  mutating func add(_ number: UInt64, _ size: Int, begins: Bool) {
    last = number
    count += 1
    bytes += size
    if begins { (changeBegan, changeBytes) = (number, 0) }
    changeBytes += size
  }

  /// Its last change was the session as a whole.
  mutating func wasShortened() { (count, bytes, wholeBytes) = (1, 0, changeBytes) }
}

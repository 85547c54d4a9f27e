import WaySession

/// What the messages of one session make, read in their order.
struct SessionReading {
  private(set) var parts = SessionParts()
  private(set) var lease: SessionLease?
  private(set) var isOver = false
  /// The number of the last message, and how many there were.
  private(set) var last: UInt64 = 0
  private(set) var count = 0
  /// The pieces of a change that is not whole yet.
  private var pieces: [UInt8] = []

  mutating func add(_ bytes: [UInt8], _ number: UInt64) throws(SessionLogFault) {
    let entry = try SessionLogEntry(bytes)
    last = number
    count += 1
    lease = entry.lease
    // A change whose rest did not come was not made.
    if entry.piece.contains(.first) || entry.body.isEmpty { pieces = [] }
    pieces += entry.body
    guard entry.piece.contains(.last) else { return }
    let whole = pieces
    pieces = []
    for step in try SessionLogEntry.steps(whole) { parts.make(step) }
    if entry.isEnd { isOver = true }
  }
}

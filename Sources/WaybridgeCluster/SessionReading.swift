import WaySession
import WayValues

/// What the messages of one session make, read in their order. Each says after which it was written.
///
/// An engine with replicas may keep two that come after the same one: then the first of them counts,
/// and nothing of a server that another has taken over from. And none may be missing from the last on
/// by which the session was written as a whole.
struct SessionReading {
  let id: UTF8Key
  /// Whether its parts are wanted; there are none otherwise.
  let keepsParts: Bool
  private(set) var parts = SessionParts()
  private(set) var lease: SessionLease?
  private(set) var isOver = false
  /// Whether it is nobody's.
  private(set) var isReleased = false
  /// The number of the last message, and how many there were.
  private(set) var last: UInt64 = 0
  /// That of the last one that counts.
  private var counting: UInt64 = 0
  private(set) var count = 0
  /// How many bytes the messages have.
  private(set) var size = 0
  /// The pieces of a change that is not whole yet; nil where the first is missing.
  private var pieces: [UInt8]? = []
  /// Whether they begin with all anew.
  private var beginsAnew = false
  /// Why it cannot be read; nil where it can.
  private(set) var fault: String?
  /// Whether messages are missing: the engine that was asked is behind the others.
  private(set) var isHoled = false

  init(of id: UTF8Key, keepsParts: Bool) {
    (self.id, self.keepsParts) = (id, keepsParts)
  }

  /// Adds the message of a number, which was written `after` another; nil where it does not say, so
  /// that it is none of a server.
  mutating func add(_ bytes: [UInt8], _ number: UInt64, after: UInt64?) {
    guard fault == nil else { return }
    do throws(ByteFault) { try take(bytes, number, after) } catch {
      fault = "the message \(number) of its log cannot be read: \(error)"
    }
  }

  private mutating func take(
    _ bytes: [UInt8], _ number: UInt64, _ after: UInt64?
  ) throws(ByteFault) {
    let entry = try JetStreamSessionLogEntry(bytes)
    guard let after else { throw ByteFault("it does not say after which it was written") }
    let before = last
    last = number
    count += 1
    size += bytes.count
    // Who wrote after the last that counts need not have known of those that do not.
    let isNext = after == before || after == counting
    if let lease, after < before && !isNext || !entry.lease.isThat(orAfter: lease) { return }
    counting = number
    if keepsParts, !isNext {
      isHoled = true
      pieces = nil
    }
    lease = entry.lease
    isReleased = false
    if keepsParts { try take(entry) }
    guard entry.piece.contains(.last) else { return }
    if entry.isEnd { (isOver, isHoled) = (true, false) }
    isReleased = entry.isRelease
  }

  private mutating func take(_ entry: JetStreamSessionLogEntry) throws(ByteFault) {
    // A change whose rest did not come was not made.
    if entry.piece.contains(.first) || entry.body.isEmpty {
      (pieces, beginsAnew) = ([], entry.beginsAnew)
    }
    pieces? += entry.body
    guard entry.piece.contains(.last), let whole = pieces else { return }
    pieces = []
    for step in try JetStreamSessionLogEntry.steps(whole) { parts.make(step) }
    // Of what was before nothing is needed.
    if beginsAnew { isHoled = false }
  }
}

extension SessionLease {
  /// Whether it is the same as another, or one by which that was taken over.
  func isThat(orAfter other: SessionLease) -> Bool { self == other || term > other.term }
}

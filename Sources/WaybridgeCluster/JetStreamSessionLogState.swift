import WaySession
import WayValues

/// The state that the messages of one session's log make, read in their order. Each names the
/// message that it was written after.
///
/// A nats-server with replicas may store two messages that were written after the same one. Then
/// the first of them is effective, and messages of a former owner are not. No message may be
/// missing since the last snapshot of the session.
struct JetStreamSessionLogState {
  let id: UTF8Key
  private let subject: String
  private let cipher: JetStreamSessionLogCipher
  /// Whether its parts are read; there are none otherwise.
  let includesParts: Bool
  private(set) var parts = SessionParts()
  private(set) var lease: SessionLease?
  private(set) var hasEnded = false
  /// Whether it has no owner.
  private(set) var isReleased = false
  /// The number of the last message, and how many messages there were.
  private(set) var lastSequence: UInt64 = 0
  /// The number of the last effective message.
  private var lastEffectiveSequence: UInt64 = 0
  private(set) var messageCount = 0
  /// The size of all messages, in bytes.
  private(set) var byteCount = 0
  /// The fragments of an incomplete change; nil if the first is missing.
  private var fragments: [UInt8]? = []
  /// Whether the fragments begin with a snapshot.
  private var startsWithSnapshot = false
  /// Why it cannot be read; nil if it can.
  private(set) var unreadableReason: String?
  /// Whether messages are missing because the nats-server that responded is behind the others.
  private(set) var hasGaps = false
  /// Whether a message is sealed with a secret that is being replaced.
  private(set) var isOutdated = false

  /// Creates the state of a session whose log has a subject, before its first message.
  init(
    of id: UTF8Key, on subject: String, _ cipher: JetStreamSessionLogCipher, includesParts: Bool
  ) {
    (self.id, self.subject, self.cipher) = (id, subject, cipher)
    self.includesParts = includesParts
  }

  /// Adds a message with its number, which was written `after` another; nil if it does not say, so
  /// that no server has written it.
  mutating func add(_ bytes: [UInt8], _ number: UInt64, after: UInt64?) {
    guard unreadableReason == nil else { return }
    do throws(ByteDecodingError) { try apply(bytes, number, after) } catch {
      unreadableReason = "the message \(number) of its log cannot be read: \(error)"
    }
  }

  private mutating func apply(
    _ bytes: [UInt8], _ number: UInt64, _ after: UInt64?
  ) throws(ByteDecodingError) {
    let entry = try cipher.open(bytes, on: subject, after: after)
    let after = after ?? 0  // never nil: the cipher rejects such a message
    isOutdated = isOutdated || cipher.isOutdated(bytes)
    let before = lastSequence
    lastSequence = number
    messageCount += 1
    byteCount += bytes.count
    // The writer of a message after the last effective one need not know of ineffective ones.
    let isNext = after == before || after == lastEffectiveSequence
    if let lease, after < before && !isNext || !entry.lease.isSame(orAfter: lease) { return }
    lastEffectiveSequence = number
    if includesParts, !isNext {
      hasGaps = true
      fragments = nil
    }
    lease = entry.lease
    isReleased = false
    if includesParts { try applyChange(entry) }
    guard entry.fragment.contains(.last) else { return }
    if entry.isEnd { (hasEnded, hasGaps) = (true, false) }
    isReleased = entry.isRelease
  }

  private mutating func applyChange(_ entry: JetStreamSessionLogEntry) throws(ByteDecodingError) {
    // A change without its last fragment was not made.
    if entry.fragment.contains(.first) || entry.body.isEmpty {
      (fragments, startsWithSnapshot) = ([], entry.startsSnapshot)
    }
    fragments? += entry.body
    guard entry.fragment.contains(.last), let whole = fragments else { return }
    fragments = []
    for step in try JetStreamSessionLogEntry.decodeSteps(whole) { parts.apply(step) }
    // A snapshot needs no earlier messages.
    if startsWithSnapshot { hasGaps = false }
  }
}

extension SessionLease {
  /// Whether it is the same lease as another, or one that has taken over from it.
  func isSame(orAfter other: SessionLease) -> Bool { self == other || term > other.term }
}

/// The state of one side of a resumable connection: the numbers that it has sent and received, and
/// the messages that the other side does not have yet. It is the same on both sides, and outlives
/// connections.
///
/// It performs no I/O and has no clock: it sends through closures.
package struct SequenceState: Sendable, Hashable {
  /// The decision about a frame.
  package enum SequenceCheck: Sendable {
    case accept
    /// The frame was received before.
    case duplicate
    /// An earlier frame is missing, or this one has no number.
    case gap
  }

  /// The number of received messages after which an acknowledgement is due.
  package static let maxUnacknowledged: UInt64 = 32
  /// The number of received bytes after which an acknowledgement is due.
  package static let maxUnacknowledgedBytes = 64 << 10

  package var outbox: Outbox
  /// The number of the last message that was received.
  package private(set) var received: UInt64
  private var lastAcknowledged: UInt64
  private var unacknowledgedBytes = 0

  /// Creates a state after `sent` and `received` messages.
  package init(sent: UInt64 = 0, received: UInt64 = 0) {
    outbox = Outbox(last: sent)
    self.received = received
    lastAcknowledged = received
  }

  /// Restores a state in which `received` messages were received.
  package init(_ outbox: Outbox, received: UInt64) {
    self.outbox = outbox
    self.received = received
    lastAcknowledged = received
  }

  /// Decides about a frame of this size in bytes.
  package mutating func receive(_ numbers: SequenceNumbers, bytes: Int) -> SequenceCheck {
    guard numbers.first > 0, !numbers.areInvalid else { return .gap }
    if numbers.last <= received { return .duplicate }
    // A batch is sent and received as a whole.
    guard numbers.first == received + 1 else { return .gap }
    received = numbers.last
    unacknowledgedBytes += bytes
    return .accept
  }

  /// Whether there are received messages that were not acknowledged.
  package var hasUnacknowledged: Bool { received > lastAcknowledged }

  /// Whether so many messages were not acknowledged that the other side may soon reach its limit.
  /// Mutating, so that the state is read in place and not copied.
  package var isAckOverdue: Bool {
    mutating get {
      received - lastAcknowledged >= 8 * Self.maxUnacknowledged
        || unacknowledgedBytes >= 4 * Self.maxUnacknowledgedBytes
    }
  }

  /// The time at which to acknowledge.
  package enum AckTiming: Sendable {
    case now, soon, never
  }

  /// Returns the time at which to acknowledge. Mutating, so that the state is read in place and not
  /// copied.
  package mutating func ackTiming() -> AckTiming {
    if received == lastAcknowledged { return .never }
    let isMuch =
      received - lastAcknowledged >= Self.maxUnacknowledged
      || unacknowledgedBytes >= Self.maxUnacknowledgedBytes
    return isMuch ? .now : .soon
  }

  /// Returns the number to acknowledge, and marks it as acknowledged. It is at most `number`, for a
  /// caller that must not acknowledge later messages yet.
  package mutating func acknowledge(through number: UInt64 = .max) -> UInt64 {
    lastAcknowledged = max(lastAcknowledged, min(number, received))
    unacknowledgedBytes = 0
    return lastAcknowledged
  }

  /// The point from which a connection resumes that has received messages up to a number.
  package enum ResumePoint: Sendable, Equatable {
    /// After this number; later messages are sent again.
    case after(UInt64)
    /// The two sides are inconsistent.
    case gap
  }

  /// Returns the point from which a peer resumes that received messages up to `number`. A reloaded
  /// peer may have forgotten what it acknowledged. After a restart, this side may have forgotten
  /// what it sent.
  package func resumePoint(
    after number: UInt64, isReloaded: Bool, isRestarted: Bool = false
  ) -> ResumePoint {
    guard number <= outbox.last || isRestarted else { return .gap }
    if number >= outbox.acknowledged { return .after(number) }
    return isReloaded ? .after(outbox.acknowledged) : .gap
  }

  /// Resumes after the other side has received messages up to `number`: sends the later ones, then
  /// those that wait. `numbered` receives the numbers of the requests among these.
  package mutating func resume(
    after number: UInt64, _ send: (RawSpan) -> Void,
    numbered: (RequestID, UInt64) -> Void = { _, _ in }
  ) {
    _ = outbox.acknowledge(number)
    outbox.replay(after: number, send)
    outbox.flush(send, numbered: numbered)
  }
}

/// What one side of a resumable conversation keeps: how far it has sent and received, and what the
/// other side does not have yet. The same on both sides; it outlives connections.
///
/// Pure: it sends through what it is handed, and knows no clock.
package struct SequenceState: Sendable, Hashable {
  /// What is to be done with a frame.
  package enum Arrival: Sendable {
    case take
    /// It was taken before.
    case drop
    /// Something before it is missing, or it has no number.
    case gap
  }

  /// So many messages may be taken before they have to be acknowledged.
  package static let maxUnacknowledged: UInt64 = 32
  /// So many bytes.
  package static let maxUnacknowledgedBytes = 64 << 10

  package var outbox: Outbox
  /// The number of the message that was taken last.
  package private(set) var received: UInt64
  private var told: UInt64
  private var untoldBytes = 0

  /// `sent` and `received` messages have come to their ends before.
  package init(sent: UInt64 = 0, received: UInt64 = 0) {
    outbox = Outbox(last: sent)
    self.received = received
    told = received
  }

  /// Goes on from another life, in which `received` messages were taken.
  package init(_ outbox: Outbox, received: UInt64) {
    self.outbox = outbox
    self.received = received
    told = received
  }

  /// Decides on a frame of so many bytes.
  package mutating func receive(_ numbers: SequenceNumbers, bytes: Int) -> Arrival {
    guard numbers.first > 0, !numbers.areBroken else { return .gap }
    if numbers.last <= received { return .drop }
    // A batch is sent as a whole, and taken as one.
    guard numbers.first == received + 1 else { return .gap }
    received = numbers.last
    untoldBytes += bytes
    return .take
  }

  /// Whether anything was taken that was not acknowledged.
  package var owesAck: Bool { received > told }

  /// Whether so much was taken and not acknowledged that the other side may soon have no room for
  /// more. Mutating, so that it is looked at in its place and not copied.
  package var owesMuch: Bool {
    mutating get {
      received - told >= 8 * Self.maxUnacknowledged
        || untoldBytes >= 4 * Self.maxUnacknowledgedBytes
    }
  }

  /// When the other side is to be told what was taken.
  package enum Ack: Sendable {
    case now, soon, never
  }

  /// When the other side is to be told. Mutating, so that it is looked at in its place and not
  /// copied.
  package mutating func dueAck() -> Ack {
    if received == told { return .never }
    let isMuch =
      received - told >= Self.maxUnacknowledged || untoldBytes >= Self.maxUnacknowledgedBytes
    return isMuch ? .now : .soon
  }

  /// The number to acknowledge; from now on nothing is owed up to it. That is `number`, where a
  /// later one must not be acknowledged yet.
  package mutating func acknowledge(through number: UInt64 = .max) -> UInt64 {
    told = max(told, min(number, received))
    untoldBytes = 0
    return told
  }

  /// How a connection that has taken messages up to `number` goes on.
  package enum Resumption: Sendable, Equatable {
    /// From this number on; what comes after it is sent again.
    case after(UInt64)
    /// The two sides do not fit.
    case gap
  }

  /// Where the peer goes on that took messages up to `number`; one that was loaded again may have
  /// forgotten what it acknowledged. Where this side was restarted, it may have forgotten what it
  /// sent.
  package func resumption(
    after number: UInt64, isReloaded: Bool, isRestarted: Bool = false
  ) -> Resumption {
    guard number <= outbox.last || isRestarted else { return .gap }
    if number >= outbox.acknowledged { return .after(number) }
    return isReloaded ? .after(outbox.acknowledged) : .gap
  }

  /// The other side has taken messages up to `number`, and goes on: it is sent what comes after it,
  /// then what has waited. The numbers of requests among that are told.
  package mutating func resume(
    after number: UInt64, _ send: (RawSpan) -> Void,
    numbered: (RequestID, UInt64) -> Void = { _, _ in }
  ) {
    _ = outbox.acknowledge(number)
    outbox.replay(after: number, send)
    outbox.release(send, numbered: numbered)
  }
}

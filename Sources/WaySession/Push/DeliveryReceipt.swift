import WayValues

/// Whom a push has reached, counted by sessions, or by clients if it calls a method of each client.
/// So a back-end knows when it has to use another service, such as that of the platform.
public struct DeliveryReceipt: Sendable, Hashable {
  /// Those that have received it.
  public var delivered: Int
  /// Those for which it waits: a deep link until a host can open it, all else until a client that has
  /// lost its connection is back. A deep link that waits for a future session counts as one.
  public var waiting: Int
  /// Sessions without a subscriber of the event; 1 if there is no such session or client at all. The
  /// member `nobody` of the protocol.
  public var unreachable: Int
  /// Those that have rejected it or failed.
  public var failed: Int

  /// Creates a receipt, for tests of code that reads receipts.
  public init(delivered: Int = 0, waiting: Int = 0, unreachable: Int = 0, failed: Int = 0) {
    self.delivered = delivered
    self.waiting = waiting
    self.unreachable = unreachable
    self.failed = failed
  }
}

extension DeliveryReceipt {
  /// Counts an event in one more session.
  mutating func add(_ reach: EventReach) {
    switch reach {
    case .subscriber: delivered += 1
    case .absentSubscriber: waiting += 1
    case .noSubscriber: unreachable += 1
    }
  }

  /// Whether nothing is counted.
  var isEmpty: Bool { self == DeliveryReceipt() }

  static func += (one: inout DeliveryReceipt, other: DeliveryReceipt) {
    one.delivered += other.delivered
    one.waiting += other.waiting
    one.unreachable += other.unreachable
    one.failed += other.failed
  }

  /// The members of the result of `session.push`.
  var members: ValueObject {
    [
      "delivered": .integer(Int64(delivered)), "waiting": .integer(Int64(waiting)),
      "nobody": .integer(Int64(unreachable)), "failed": .integer(Int64(failed)),
    ]
  }

  /// Decodes ``members``.
  init(peerValue: Value) {
    func count(_ name: String) -> Int { Int(clamping: peerValue[name]?.integer ?? 0) }
    self.init(
      delivered: count("delivered"), waiting: count("waiting"), unreachable: count("nobody"),
      failed: count("failed"))
  }
}

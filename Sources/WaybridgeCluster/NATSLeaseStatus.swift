import Synchronization
import WayTransport

/// The state of this server's lease that other threads read. May be used on any thread.
final class NATSLeaseStatus: Sendable {
  private let storedRevision = Atomic<UInt64>(0)
  private let storedJoinNumber = Atomic<UInt64>(0)
  private let storedFailure = Locked<String?>(nil)

  init() {}

  /// The revision of the key that this server has written last. A thread that reads it and
  /// then ``joinNumber`` gets the number for this revision or a later one.
  var revision: UInt64 {
    get { storedRevision.load(ordering: .acquiring) }
    set { storedRevision.store(newValue, ordering: .releasing) }
  }

  /// The revision of the key when this server joined; 0 before.
  var joinNumber: UInt64 {
    get { storedJoinNumber.load(ordering: .relaxed) }
    set { storedJoinNumber.store(newValue, ordering: .relaxed) }
  }

  /// Why NATS cannot be used; nil if its last response was a success.
  var failure: String? {
    get { storedFailure.withLock { $0 } }
    set { storedFailure.withLock { $0 = newValue } }
  }
}

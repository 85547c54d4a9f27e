import Synchronization
import WayTransport

/// The state of this server's lease that other threads read. May be used on any thread.
final class NATSLeaseStatus: Sendable {
  private let storedRevision = Atomic<UInt64>(0)
  private let storedFailure = Locked<String?>(nil)

  init() {}

  /// The revision of the key that this server has written last.
  var revision: UInt64 {
    get { storedRevision.load(ordering: .relaxed) }
    set { storedRevision.store(newValue, ordering: .relaxed) }
  }

  /// Why NATS cannot be used; nil if its last response was a success.
  var failure: String? {
    get { storedFailure.withLock { $0 } }
    set { storedFailure.withLock { $0 = newValue } }
  }
}

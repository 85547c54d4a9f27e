import Synchronization
import WayTransport

/// What others ask of this server's lease. May be used on any thread.
final class SharedLease: Sendable {
  private let number = Atomic<UInt64>(0)
  private let why = Locked<String?>(nil)

  init() {}

  /// The revision of the key that it has written last.
  var renewal: UInt64 {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }

  /// Why the engine cannot be used; nil where it has answered last.
  var failure: String? {
    get { why.withLock { $0 } }
    set { why.withLock { $0 = newValue } }
  }
}

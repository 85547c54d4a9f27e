import Synchronization

/// The ids of all channels of the process. A later channel has a larger id.
package enum ChannelIDs {
  private static let last = Atomic<UInt64>(0)

  /// Returns an id that no other channel has had.
  package static func make() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

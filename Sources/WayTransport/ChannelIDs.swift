import Synchronization

/// Numbers the channels of the process, of whatever kind: one made later has a larger number.
package enum ChannelIDs {
  private static let last = Atomic<UInt64>(0)

  /// A number that no other channel has had.
  package static func make() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

import Synchronization

/// For how long a server may take it for granted that what it owns is its own: as long as the lease
/// that the others know of it. A server that shares nothing has none.
///
/// It is asked with every message, so that one which was stopped, or cut off, for longer than that
/// says nothing more: by then another may have taken its sessions over. May be used on any thread.
package final class Tenure: Sendable {
  private let end = Atomic<UInt64>(0)
  /// How long the machine had been suspended when it was renewed last.
  private let slept = Atomic<UInt64>(0)
  private let suspension: @Sendable () -> UInt64
  private let renewals = Atomic(0)
  private let losses = Atomic(0)

  /// `suspension` tells for how long the machine was suspended so far, in nanoseconds, which the
  /// loops' clock leaves out.
  package init(suspension: @escaping @Sendable () -> UInt64) {
    self.suspension = suspension
  }

  /// When it ends, in nanoseconds of the loops' clock; 0 where there is none.
  package var ends: UInt64 {
    let end = end.load(ordering: .relaxed)
    let asleep = suspension() &- slept.load(ordering: .relaxed)
    // Clocks that are not read at the same moment may make it a little less than nothing.
    guard asleep < 1 << 63 else { return end }
    return end > asleep ? end - asleep : 0
  }

  /// Whether it has ended.
  package func isOver(at now: UInt64) -> Bool { now >= ends }

  /// The lease was renewed, and nobody can have taken anything before this time; `asleep` is how long
  /// the machine had been suspended when the renewal was sent.
  package func renewed(until time: UInt64, asleep: UInt64) {
    slept.store(asleep, ordering: .relaxed)
    end.store(time, ordering: .relaxed)
    renewals.add(1, ordering: .relaxed)
  }

  /// The lease was given up, or another server has ended it.
  package func lost() {
    end.store(0, ordering: .relaxed)
    losses.add(1, ordering: .relaxed)
  }

  /// How often it was renewed, and lost.
  package var counts: (renewals: Int, losses: Int) {
    (renewals.load(ordering: .relaxed), losses.load(ordering: .relaxed))
  }
}

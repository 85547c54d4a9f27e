import Synchronization

/// The time for which a server may rely on owning its sessions: the duration of its lease, which
/// the other servers know. A server that shares nothing has no lease.
///
/// Checked with every message. A server that was stopped or cut off for longer sends nothing more,
/// since another may have taken its sessions over. Safe to use on any thread.
package final class SessionLeaseValidity: Sendable {
  /// The time at which the lease ends, by a clock that includes suspensions; 0 if there is none.
  private let expiry = Atomic<UInt64>(0)
  private let suspendedTime: @Sendable () -> UInt64
  private let renewals = Atomic(0)
  private let extensions = Atomic(0)
  private let losses = Atomic(0)

  /// `suspendedTime` returns the time for which the machine was suspended so far, in nanoseconds.
  /// The loops' clock does not include it.
  package init(suspendedTime: @escaping @Sendable () -> UInt64) {
    self.suspendedTime = suspendedTime
  }

  /// The time at which the lease ends, in nanoseconds of the loops' clock; 0 if there is none.
  package var expiresAt: UInt64 {
    let end = expiry.load(ordering: .relaxed)
    let suspended = suspendedTime()
    return end > suspended ? end - suspended : 0
  }

  /// Whether the lease has ended.
  package func hasExpired(at now: UInt64) -> Bool { now >= expiresAt }

  /// Renews the lease; no other server can take a session over before `time`. `suspended` is the
  /// time for which the machine was suspended before the renewal was sent.
  package func renew(until time: UInt64, suspended: UInt64) {
    let (end, isTooLarge) = time.addingReportingOverflow(suspended)
    expiry.store(isTooLarge ? .max : end, ordering: .relaxed)
    renewals.add(1, ordering: .relaxed)
  }

  /// Extends the lease, if it is still valid at `now` and ends earlier; no other server can take a
  /// session over before `end`. That time includes all suspensions of the machine. Returns whether
  /// the lease was extended.
  package func extend(until end: UInt64, at now: UInt64) -> Bool {
    let current = expiry.load(ordering: .relaxed)
    let suspended = suspendedTime()
    guard current > suspended, now < current - suspended, end > current,
      // It may have been lost since.
      expiry.compareExchange(expected: current, desired: end, ordering: .relaxed).exchanged
    else { return false }
    extensions.add(1, ordering: .relaxed)
    return true
  }

  /// Ends a lease that was released, or that another server has ended. Without a lease, it counts no
  /// loss.
  package func revoke() {
    if expiry.exchange(0, ordering: .relaxed) > 0 { losses.add(1, ordering: .relaxed) }
  }

  /// The number of renewals, of extensions, and of losses.
  package var counts: (renewals: Int, extensions: Int, losses: Int) {
    (
      renewals.load(ordering: .relaxed), extensions.load(ordering: .relaxed),
      losses.load(ordering: .relaxed)
    )
  }
}

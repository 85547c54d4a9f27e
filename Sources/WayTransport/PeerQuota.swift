/// Limits how many slots each key has at a time, such as the connections of an address, and how
/// often it takes one. Thread-safe.
package final class PeerQuota<Key: Hashable & Sendable>: Sendable {
  /// The limit that a key would exceed.
  package enum Excess: Error, Equatable {
    /// It has this many slots already.
    case slots(limit: Int)
    /// It takes slots too often. `wait` is the number of nanoseconds until it may take the next.
    case rate(wait: UInt64)
  }

  /// A slot, freed when its last reference goes away.
  package final class Slot: Sendable {
    private let quota: PeerQuota
    private let key: Key

    fileprivate init(_ quota: PeerQuota, _ key: Key) {
      self.quota = quota
      self.key = key
    }

    deinit { quota.release(key) }
  }

  private struct KeyUse {
    var slots = 0
    /// When the key may take its next slot without use of the burst, in nanoseconds.
    var due: UInt64 = 0
  }

  private struct QuotaState {
    var uses: [Key: KeyUse] = [:]
    /// Number of keys at which those without a slot are removed next.
    var sweepSize = minimumSweepSize
    var refused = (slots: 0, rate: 0)
  }

  private static var minimumSweepSize: Int { 1024 }

  private let maxSlots: Int
  private let rate: RateLimit
  private let state = Locked(QuotaState())

  /// - Parameters:
  ///   - maxSlots: Slots of one key at a time; 0 for no limit.
  ///   - rate: How often one key may take a slot.
  package init(maxSlots: Int, rate: RateLimit = RateLimit(rate: 0, burst: 0)) {
    self.maxSlots = maxSlots
    self.rate = rate
  }

  /// How many slots were refused because of each limit.
  package var refused: (slots: Int, rate: Int) { state.withLock { $0.refused } }

  /// Number of keys that it remembers.
  package var keyCount: Int { state.withLock { $0.uses.count } }

  /// Takes a slot. `now` is a time of one clock, in nanoseconds.
  package func acquire(_ key: Key, at now: UInt64) throws(Excess) -> Slot {
    try state.withLock { (state) throws(Excess) in
      Self.sweep(&state, at: now)
      var use = state.uses[key] ?? KeyUse()
      guard maxSlots == 0 || use.slots < maxSlots else {
        state.refused.slots += 1
        throw .slots(limit: maxSlots)
      }
      let wait = rate.charge(&use.due, at: now)
      guard wait == 0 else {
        state.refused.rate += 1
        throw .rate(wait: wait)
      }
      use.slots += 1
      state.uses[key] = use
    }
    return Slot(self, key)
  }

  /// Takes a slot regardless of the limits, for what was accepted before.
  package func restore(_ key: Key) -> Slot {
    state.withLock { $0.uses[key, default: KeyUse()].slots += 1 }
    return Slot(self, key)
  }

  private func release(_ key: Key) {
    state.withLock { $0.uses[key]?.slots -= 1 }
  }

  /// Removes the keys that have no slot and may take one without use of the burst: those that are
  /// as if they were new.
  private static func sweep(_ state: inout QuotaState, at now: UInt64) {
    guard state.uses.count >= state.sweepSize else { return }
    state.uses = state.uses.filter { $0.value.slots > 0 || $0.value.due > now }
    state.sweepSize = max(state.uses.count * 2, minimumSweepSize)
  }
}

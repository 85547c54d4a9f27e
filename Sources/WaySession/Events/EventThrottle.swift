/// Lets a limited number of events of each key and kind pass in a second, and counts the others. Its
/// memory is bounded: beyond ``maxKinds`` kinds of a key in a second, all other kinds of that key
/// count together; beyond `maxKeys` keys, all other keys count together.
package struct EventThrottle<Key: Hashable & Sendable, Kind: Hashable & Sendable>: Sendable {
  /// The number of events that did not pass.
  package struct SuppressedCount: Sendable {
    /// The key of the events; `nil` for all keys beyond the maximum.
    package let key: Key?
    /// The kind of the events; `nil` for all kinds beyond the maximum.
    package let kind: Kind?
    package let count: Int
  }

  /// The decision about one event.
  package struct ThrottleDecision: Sendable {
    /// Whether the event passes.
    package let passes: Bool
    /// The numbers of earlier events that did not pass, each reported once.
    package let suppressedCounts: [SuppressedCount]
  }

  private struct ThrottleWindow {
    let start: Int64
    var passedCount = 0
    var suppressedCount = 0

    /// Whether the window has ended; also if the clock was set back.
    func hasEnded(at now: Int64) -> Bool { now < start || now - start >= windowLength }
  }

  /// The number of events of a key and kind that pass in a second.
  package static var maxPerSecond: Int { 10 }
  /// The number of kinds of a key that are distinguished.
  package static var maxKinds: Int { 32 }

  /// The number of keys that are distinguished.
  private let maxKeys: Int
  /// Returns what is distinguished of a kind beyond the maximum. It has few results.
  private let summarize: @Sendable (Kind) -> Kind?
  private var windows: [Key?: [Kind?: ThrottleWindow]] = [:]
  private var lastSweep: Int64 = 0

  /// Creates a throttle that distinguishes `maxKeys` keys. Of the kinds beyond the maximum, and of
  /// those of all keys beyond the maximum, it distinguishes only what `summarize` returns, which must
  /// have few results.
  package init(
    maxKeys: Int = 256, summarize: @escaping @Sendable (Kind) -> Kind? = { _ in nil }
  ) {
    self.maxKeys = maxKeys
    self.summarize = summarize
  }

  /// Decides about an event at a time in milliseconds.
  package mutating func decide(_ key: Key, _ kind: Kind, at now: Int64) -> ThrottleDecision {
    var counts: [SuppressedCount] = []
    if now < lastSweep || now - lastSweep >= windowLength { counts = removeEnded(at: now) }
    let known = windows[.some(key)]
    let windowKey: Key? = known != nil || windows.count < maxKeys ? key : nil
    let kinds = known ?? [:]
    let isDistinguished =
      windowKey != nil && (kinds[.some(kind)] != nil || kinds.count < Self.maxKinds)
    let windowKind = isDistinguished ? kind : summarize(kind)
    var window = windows[windowKey]?[windowKind] ?? ThrottleWindow(start: now)
    if window.hasEnded(at: now) {
      if window.suppressedCount > 0 {
        counts.append(
          SuppressedCount(key: windowKey, kind: windowKind, count: window.suppressedCount))
      }
      window = ThrottleWindow(start: now)
    }
    let passes = window.passedCount < Self.maxPerSecond
    if passes { window.passedCount += 1 } else { window.suppressedCount += 1 }
    windows[windowKey, default: [:]][windowKind] = window
    return ThrottleDecision(passes: passes, suppressedCounts: counts)
  }

  /// Forgets the events of seconds that have ended. Returns the numbers of those that did not pass.
  package mutating func removeEnded(at now: Int64) -> [SuppressedCount] {
    lastSweep = now
    return remove { $0.hasEnded(at: now) }
  }

  /// Forgets all events. Returns the numbers of those that did not pass.
  package mutating func removeAll() -> [SuppressedCount] { remove { _ in true } }

  /// The time at which the next number of suppressed events can be reported; `nil` if there is none.
  package var nextReport: Int64? {
    windows.values.lazy.flatMap(\.values).filter { $0.suppressedCount > 0 }
      .map { $0.start + windowLength }.min()
  }

  private mutating func remove(_ isRemoved: (ThrottleWindow) -> Bool) -> [SuppressedCount] {
    var counts: [SuppressedCount] = []
    for (key, kinds) in windows {
      let ended = kinds.filter { isRemoved($0.value) }
      for (kind, window) in ended where window.suppressedCount > 0 {
        counts.append(SuppressedCount(key: key, kind: kind, count: window.suppressedCount))
      }
      if ended.count == kinds.count {
        windows[key] = nil
      } else if !ended.isEmpty {
        windows[key] = kinds.filter { ended[$0.key] == nil }
      }
    }
    return counts
  }
}

/// The length of a window in milliseconds.
private let windowLength: Int64 = 1000

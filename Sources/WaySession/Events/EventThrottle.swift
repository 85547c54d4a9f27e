/// Lets a limited number of events pass in a second: of each key and kind, of each key, and of all
/// keys. Counts the others.
///
/// An event beyond the limit of its kind counts with that kind. An event beyond another limit counts
/// with what `summarize` returns for its kind. The first event of each key passes even if the events
/// of other keys have used up the limit of all, so that no key hides another one.
///
/// Its memory is bounded. All keys beyond ``ThrottleLimits/maxKeys`` in a second count as one.
package struct EventThrottle<Key: Hashable & Sendable, Kind: Hashable & Sendable>: Sendable {
  /// The number of events that did not pass.
  package struct SuppressedCount: Sendable {
    /// The key of the events; `nil` for all keys beyond the maximum.
    package let key: Key?
    /// The kind of the events; `nil` for several kinds.
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

  private struct EventCounts {
    var passed = 0
    var suppressed = 0
  }

  /// The events of one key in a second.
  private struct KeyWindow {
    let start: Int64
    var passedCount = 0
    /// The kinds of which events have passed, and summaries of the others.
    var kinds: [Kind?: EventCounts] = [:]

    func hasEnded(at now: Int64) -> Bool { isEnded(windowStart: start, at: now) }

    var hasSuppressed: Bool { kinds.values.contains { $0.suppressed > 0 } }

    func suppressedCounts(of key: Key?) -> [SuppressedCount] {
      kinds.compactMap { kind, counts in
        counts.suppressed > 0
          ? SuppressedCount(key: key, kind: kind, count: counts.suppressed) : nil
      }
    }

    /// Counts an event, and returns whether it passes. `hasRoom` is whether the limit of all keys is
    /// not used up.
    mutating func count(
      _ kind: Kind?, _ summary: @autoclosure () -> Kind?, _ limits: ThrottleLimits, hasRoom: Bool
    ) -> Bool {
      if let counts = kinds[kind], counts.passed >= limits.maxPerKind {
        kinds[kind] = EventCounts(passed: counts.passed, suppressed: counts.suppressed + 1)
        return false
      }
      guard passedCount < limits.maxPerKey, hasRoom || passedCount == 0 else {
        kinds[summary(), default: EventCounts()].suppressed += 1
        return false
      }
      kinds[kind, default: EventCounts()].passed += 1
      passedCount += 1
      return true
    }
  }

  private let limits: ThrottleLimits
  /// Returns what is distinguished of a kind beyond the limit of its key. It has few results.
  private let summarize: @Sendable (Kind) -> Kind?
  private var windows: [Key?: KeyWindow] = [:]
  private var lastSweep: Int64 = 0
  /// The events of all keys that have passed in this second.
  private var total = (start: Int64(0), passedCount: 0)

  /// Creates a throttle. Of the kinds beyond the limit of a key, and of those of all keys beyond the
  /// maximum, it distinguishes only what `summarize` returns, which must have few results.
  package init(
    _ limits: ThrottleLimits, summarize: @escaping @Sendable (Kind) -> Kind? = { _ in nil }
  ) {
    self.limits = limits
    self.summarize = summarize
  }

  /// Decides about an event at a time in milliseconds.
  package mutating func decide(_ key: Key, _ kind: Kind, at now: Int64) -> ThrottleDecision {
    var counts = isEnded(windowStart: lastSweep, at: now) ? removeEnded(at: now) : []
    let windowKey = windows[key] != nil || windows.count < limits.maxKeys ? key : nil
    if let window = windows[windowKey], window.hasEnded(at: now) {
      counts += window.suppressedCounts(of: windowKey)
      windows[windowKey] = nil
    }
    if isEnded(windowStart: total.start, at: now) { total = (now, 0) }
    let passes = windows[windowKey, default: KeyWindow(start: now)].count(
      windowKey == nil ? summarize(kind) : kind, summarize(kind), limits,
      hasRoom: total.passedCount < limits.maxTotal)
    if passes { total.passedCount += 1 }
    return ThrottleDecision(passes: passes, suppressedCounts: counts)
  }

  /// Forgets the events of seconds that have ended. Returns the numbers of those that did not pass.
  package mutating func removeEnded(at now: Int64) -> [SuppressedCount] {
    lastSweep = now
    let ended = windows.filter { $0.value.hasEnded(at: now) }
    for key in ended.keys { windows[key] = nil }
    return ended.flatMap { $0.value.suppressedCounts(of: $0.key) }
  }

  /// Forgets all events. Returns the numbers of those that did not pass.
  package mutating func removeAll() -> [SuppressedCount] {
    defer { windows = [:] }
    return windows.flatMap { $0.value.suppressedCounts(of: $0.key) }
  }

  /// The time at which the next number of suppressed events can be reported; `nil` if there is none.
  package var nextReport: Int64? {
    windows.values.lazy.filter(\.hasSuppressed).map { $0.start + windowLength }.min()
  }
}

/// The numbers of events that an ``EventThrottle`` lets pass in a second.
package struct ThrottleLimits: Sendable {
  /// The events of one key and kind.
  package var maxPerKind: Int
  /// The events of one key.
  package var maxPerKey: Int
  /// The events of all keys. Beyond it, the first event of each key still passes.
  package var maxTotal: Int
  /// The keys that are distinguished.
  package var maxKeys: Int

  package init(
    maxPerKind: Int = 10, maxPerKey: Int = 30, maxTotal: Int = 300, maxKeys: Int = 256
  ) {
    self.maxPerKind = maxPerKind
    self.maxPerKey = maxPerKey
    self.maxTotal = maxTotal
    self.maxKeys = maxKeys
  }
}

/// The length of a window in milliseconds.
private let windowLength: Int64 = 1000

/// Whether a window has ended; also if the clock was set back.
private func isEnded(windowStart start: Int64, at now: Int64) -> Bool {
  now < start || now - start >= windowLength
}

/// Lets a limited number of events of each key pass in a second, and counts the others. Its memory
/// is bounded: beyond ``maxKeys`` keys in a second, all other keys count as one.
package struct EventThrottle<Key: Hashable & Sendable>: Sendable {
  /// The decision about one event.
  package struct ThrottleDecision: Sendable {
    /// Whether the event passes.
    package let passes: Bool
    /// The numbers of earlier events that did not pass, by their keys, each reported once. The key
    /// `nil` stands for all keys beyond the maximum.
    package fileprivate(set) var suppressedCounts: [(key: Key?, count: Int)] = []
  }

  private struct ThrottleWindow {
    let start: Int64
    var passedCount = 0
    var suppressedCount = 0

    /// Whether the window has ended; also if the clock was set back.
    func hasEnded(at now: Int64) -> Bool { now < start || now - start >= windowLength }
  }

  /// The number of events of a key that pass in a second.
  package static var maxPerSecond: Int { 10 }
  /// The number of keys that are distinguished.
  package static var maxKeys: Int { 256 }

  private var windows: [Key?: ThrottleWindow] = [:]
  private var lastSweep: Int64 = 0

  package init() {}

  /// Decides about an event of a key at a time in milliseconds.
  package mutating func decide(_ key: Key, at now: Int64) -> ThrottleDecision {
    var counts: [(key: Key?, count: Int)] = []
    if now < lastSweep || now - lastSweep >= windowLength {
      lastSweep = now
      for (key, window) in windows where window.hasEnded(at: now) {
        if window.suppressedCount > 0 { counts.append((key, window.suppressedCount)) }
        windows[key] = nil
      }
    }
    let isKnown = windows[.some(key)] != nil
    let windowKey: Key? = isKnown || windows.count < Self.maxKeys ? key : nil
    var window = windows[windowKey] ?? ThrottleWindow(start: now)
    if window.hasEnded(at: now) {
      if window.suppressedCount > 0 { counts.append((windowKey, window.suppressedCount)) }
      window = ThrottleWindow(start: now)
    }
    let passes = window.passedCount < Self.maxPerSecond
    if passes { window.passedCount += 1 } else { window.suppressedCount += 1 }
    windows[windowKey] = window
    return ThrottleDecision(passes: passes, suppressedCounts: counts)
  }
}

/// The length of a window in milliseconds.
private let windowLength: Int64 = 1000

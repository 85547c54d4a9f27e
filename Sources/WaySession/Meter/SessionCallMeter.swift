import Synchronization
import WayRPC
import WayTransport
import WayValues

/// Counts the calls of one loop. Only that loop writes, without locks; any thread may read.
package final class SessionCallMeter: Sendable {
  /// The index of a method in ``names``.
  package typealias MethodIndex = UInt8

  /// The names of the methods, by index. The last name stands for all methods without an index, so
  /// that peers cannot make the list grow.
  package let names: [String]

  private let meters: InlineArray<64, SessionMethodMeter> = InlineArray { _ in SessionMethodMeter()
  }
  private let loop: any EventLoop
  private let durationRecorder: (@Sendable (MethodIndex, UInt64) -> Void)?
  /// The last reading of the clock in this turn of the loop; 0 if there is none. If one call
  /// follows another in a turn, the end of the first is the start of the next. The clock is then
  /// read once a call.
  private let lastReading = Atomic<UInt64>(0)
  private let firstReading = Atomic<UInt64>(0)

  /// The names under which a meter counts these methods: at most 63 of them, and one name for all
  /// others.
  package static func names(of methods: [String]) -> [String] { methods.prefix(63) + ["other"] }

  init(
    methods: [String], loop: any EventLoop,
    durationRecorder: (@Sendable (MethodIndex, UInt64) -> Void)? = nil
  ) {
    names = Self.names(of: methods)
    self.loop = loop
    self.durationRecorder = durationRecorder
  }

  /// The index for methods that have none of their own.
  var other: MethodIndex { MethodIndex(names.count - 1) }

  /// The index of the method with this number; the index of others if there is none.
  func methodIndex(_ number: Int?) -> MethodIndex {
    guard let number, number < names.count - 1 else { return other }
    return MethodIndex(number)
  }

  /// Starts to measure a call.
  func begin() {
    if lastReading.load(ordering: .relaxed) == 0 { beginTurn() }
  }

  private func beginTurn() {
    let now = loop.nanoseconds
    lastReading.store(now, ordering: .relaxed)
    firstReading.store(now, ordering: .relaxed)
    loop.execute { [self] in lastReading.store(0, ordering: .relaxed) }
  }

  /// The start time of the current call, in nanoseconds of the loop's clock. For a call that does
  /// not end at once.
  var start: UInt64 { lastReading.load(ordering: .relaxed) }

  /// The start time of the turn in which ``start`` was read. No two turns have the same.
  var turnStart: UInt64 { firstReading.load(ordering: .relaxed) }

  /// The duration of this turn, in nanoseconds; 0 if no call has started in it.
  var turnAge: UInt64 {
    lastReading.load(ordering: .relaxed) == 0 ? 0 : loop.nanoseconds &- turnStart
  }

  /// The time, in nanoseconds of the loop's clock: the last reading if it was made after `start`,
  /// otherwise a new one.
  func now(after start: UInt64) -> UInt64 {
    let reading = lastReading.load(ordering: .relaxed)
    return reading > start ? reading : loop.nanoseconds
  }

  /// Records a call that has ended, and returns its duration in nanoseconds. `code` is the code of
  /// its error, nil for a result. `start` is nil for a call that ends within its turn.
  @discardableResult
  func record(_ method: MethodIndex, code: Int?, since start: UInt64? = nil) -> UInt64 {
    let now = loop.nanoseconds
    let reading = lastReading.load(ordering: .relaxed)
    if reading != 0 { lastReading.store(now, ordering: .relaxed) }
    let start = start ?? (reading == 0 ? now : reading)
    let duration = now - min(start, now)
    meters[Int(method)].record(code, nanoseconds: duration)
    durationRecorder?(method, duration)
    return duration
  }

  /// The counts so far, of the methods that were called.
  package var counts: [MethodCounts] { MethodCounts.sum(of: [self]) }

  fileprivate func outcomes(_ index: Int) -> [(outcome: String, count: Int)] {
    meters[index].outcomes
  }

  fileprivate func durations(_ index: Int) -> HistogramCounts { meters[index].durations.counts }
}

/// The counts of a ``SessionCallMeter`` for one method.
package struct MethodCounts: Sendable {
  package let method: String
  /// The number of calls by outcome: `ok`, the `kind` of an error code, `application` or `other`.
  package let outcomes: [(outcome: String, count: Int)]
  package let durations: HistogramCounts

  /// The sum of several meters of the same methods, for the methods that were called.
  static func sum(of meters: [SessionCallMeter]) -> [MethodCounts] {
    (meters.first?.names ?? []).enumerated().compactMap { index, name in
      var outcomes: [(outcome: String, count: Int)] = []
      var durations = HistogramCounts()
      for meter in meters {
        for (outcome, count) in meter.outcomes(index) {
          if let known = outcomes.firstIndex(where: { $0.outcome == outcome }) {
            outcomes[known].count += count
          } else {
            outcomes.append((outcome, count))
          }
        }
        durations += meter.durations(index)
      }
      if outcomes.isEmpty { return nil }
      return MethodCounts(method: name, outcomes: outcomes, durations: durations)
    }
  }
}

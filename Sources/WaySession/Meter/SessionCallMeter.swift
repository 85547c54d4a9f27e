import Synchronization
import WayRPC
import WayTransport
import WayValues

/// Counts the calls of one loop. Only that loop writes, without locks; any thread may read.
package final class SessionCallMeter: Sendable {
  /// The place of a method in ``names``.
  package typealias Place = UInt8

  /// The names of the methods by their places; the last stands for all that have none of their own,
  /// so that peers cannot make the list grow.
  package let names: [String]

  private let meters: InlineArray<64, SessionMethodMeter> = InlineArray { _ in SessionMethodMeter()
  }
  private let loop: any EventLoop
  private let timed: (@Sendable (Place, UInt64) -> Void)?
  /// The last reading of the clock in this turn of the loop; 0 where there is none. Where one call
  /// follows another in a turn, the end of the first is the start of the next, so that the clock is
  /// read once a call.
  private let lastReading = Atomic<UInt64>(0)
  private let firstReading = Atomic<UInt64>(0)

  /// The names that a meter of these methods counts by: at most 63 of them, and what stands for all
  /// others.
  package static func names(of methods: [String]) -> [String] { methods.prefix(63) + ["other"] }

  init(
    methods: [String], loop: any EventLoop, timed: (@Sendable (Place, UInt64) -> Void)? = nil
  ) {
    names = Self.names(of: methods)
    self.loop = loop
    self.timed = timed
  }

  /// The place of what has none of its own.
  var other: Place { Place(names.count - 1) }

  /// The place of the method of this number among the names; of others where there is none.
  func place(_ number: Int?) -> Place {
    guard let number, number < names.count - 1 else { return other }
    return Place(number)
  }

  /// A call begins to be looked at.
  func begin() {
    if lastReading.load(ordering: .relaxed) == 0 { beginTurn() }
  }

  private func beginTurn() {
    let now = loop.nanoseconds
    lastReading.store(now, ordering: .relaxed)
    firstReading.store(now, ordering: .relaxed)
    loop.execute { [self] in lastReading.store(0, ordering: .relaxed) }
  }

  /// When the call that is looked at now began, in the loop's nanoseconds: for one that does not
  /// end at once.
  var start: UInt64 { lastReading.load(ordering: .relaxed) }

  /// When the turn of the loop began in which ``start`` was read: no two turns have the same.
  var turn: UInt64 { firstReading.load(ordering: .relaxed) }

  /// How long this turn has lasted, in nanoseconds; 0 where nothing has come in it.
  var age: UInt64 {
    lastReading.load(ordering: .relaxed) == 0 ? 0 : loop.nanoseconds &- turn
  }

  /// The moment, in the loop's nanoseconds: that of the last reading, where it was read after
  /// `start`.
  func now(after start: UInt64) -> UInt64 {
    let reading = lastReading.load(ordering: .relaxed)
    return reading > start ? reading : loop.nanoseconds
  }

  /// A call has ended; gives the nanoseconds that it took. `code` is that of its error, nil for a
  /// result; `start` is nil for one that ends while it is looked at.
  @discardableResult
  func ended(_ method: Place, code: Int?, since start: UInt64? = nil) -> UInt64 {
    let now = loop.nanoseconds
    let reading = lastReading.load(ordering: .relaxed)
    if reading != 0 { lastReading.store(now, ordering: .relaxed) }
    let start = start ?? (reading == 0 ? now : reading)
    let duration = now - min(start, now)
    meters[Int(method)].record(code, nanoseconds: duration)
    timed?(method, duration)
    return duration
  }

  /// What was counted so far, of the methods that were called.
  package var counts: [MethodCounts] { MethodCounts.sum(of: [self]) }

  fileprivate func outcomes(_ place: Int) -> [(outcome: String, count: Int)] {
    meters[place].outcomes
  }

  fileprivate func durations(_ place: Int) -> HistogramCounts { meters[place].durations.counts }
}

/// What a ``CallMeter`` has counted for one method.
package struct MethodCounts: Sendable {
  package let method: String
  /// By `ok`, the `kind` of an error code, `application` or `other`.
  package let outcomes: [(outcome: String, count: Int)]
  package let durations: HistogramCounts

  /// What several meters of the same methods have counted together, of the methods that were called.
  static func sum(of meters: [SessionCallMeter]) -> [MethodCounts] {
    (meters.first?.names ?? []).enumerated().compactMap { place, name in
      var outcomes: [(outcome: String, count: Int)] = []
      var durations = HistogramCounts()
      for meter in meters {
        for (outcome, count) in meter.outcomes(place) {
          if let known = outcomes.firstIndex(where: { $0.outcome == outcome }) {
            outcomes[known].count += count
          } else {
            outcomes.append((outcome, count))
          }
        }
        durations += meter.durations(place)
      }
      if outcomes.isEmpty { return nil }
      return MethodCounts(method: name, outcomes: outcomes, durations: durations)
    }
  }
}
